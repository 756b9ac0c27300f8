#include "http/exchange.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <exception>

#include "http/connection_loop.h"
#include "http/http_text.h"

namespace baton::http {

ConnectionExchange::ConnectionExchange(std::shared_ptr<ServerCore> core,
                                       std::shared_ptr<Connection> connection, Request request)
    : core_(std::move(core)), connection_(std::move(connection)), request_(std::move(request)) {}

ConnectionExchange::~ConnectionExchange() {
  refuse(500, "the request was not answered");
}

template <class Work>
void ConnectionExchange::answering(const Work& work) {
  if (core_->stopped) return;
  try {
    work();
  } catch (const std::exception& error) {
    spdlog::error("a request handler threw: {}", error.what());
    refuse(500, "internal error");
  } catch (...) {
    spdlog::error("a request handler threw an unknown exception");
    refuse(500, "internal error");
  }
}

void ConnectionExchange::serve(const std::shared_ptr<ConnectionExchange>& exchange) {
  exchange->answering([&] { exchange->core_->handler(exchange); });
}

void ConnectionExchange::serve_later(const std::shared_ptr<ConnectionExchange>& exchange) {
  if (!exchange->core_->workers->try_submit([exchange] { serve(exchange); })) exchange->refuse_waiting();
}

void ConnectionExchange::refuse_waiting() {
  refuse(503, "too many requests are waiting; try again later");
}

void ConnectionExchange::block(std::function<void()> work) {
  if (!core_->loop.on_loop_thread()) return work();
  const auto self = shared_from_this();
  const bool taken = core_->workers->try_submit([self, work = std::move(work)] { self->answering(work); });
  if (!taken) refuse_waiting();
}

void ConnectionExchange::on_loop(std::function<void()> work) {
  ConnectionLoop::post(core_->loop, connection_,
                       [self = shared_from_this(), work = std::move(work)](ConnectionLoop&, Connection&) {
                         self->answering(work);
                       });
}

template <class MakeReply>
void ConnectionExchange::answer(MakeReply&& make_reply) {
  if (answered_.exchange(true) || !connection_->output_owner.claim()) return;
  if (core_->draining) connection_->shape.keep_alive = false;
  write_answer(*connection_, make_reply());
  give_back();
}

void ConnectionExchange::give_back() {
  Connection& connection = *connection_;
  // Reads these members before giving the output back; afterwards they belong to the loop.
  const bool more_to_do = !connection.output.empty() || connection.write_failed || connection.close_after ||
                          connection.readable || connection.read_ended || !connection.unread.empty();
  // Within `advance` the loop continues with the connection anyway. Posting a `resume` for each of many
  // pipelined requests would serve them all before other connections.
  const bool within_advance = core_->loop.on_loop_thread() && connection.handling;
  const bool knocked = connection.output_owner.give_back();
  if (within_advance) return;
  if (more_to_do || knocked) ConnectionLoop::post(core_->loop, connection_, &ConnectionLoop::resume);
}

void ConnectionExchange::refuse(int status, std::string_view reason) {
  answer([&] { return core_->refusal(request_, status, reason); });
}

void ConnectionExchange::keep_only(std::initializer_list<std::string_view> headers) {
  Request kept;
  for (auto& header : request_.headers) {
    const auto is_it = [&](std::string_view name) { return same_word(header.first, name); };
    if (std::ranges::any_of(headers, is_it)) kept.headers.push_back(std::move(header));
  }
  kept.method = std::move(request_.method);
  kept.path = std::move(request_.path);
  kept.raw_path = std::move(request_.raw_path);
  kept.remote_address = std::move(request_.remote_address);
  kept.certificate = std::move(request_.certificate);
  std::swap(request_, kept);
}

void ConnectionExchange::reply(Reply reply) {
  answer([&] { return std::move(reply); });
}

void ConnectionExchange::open_stream(HeaderList headers, StreamOpener opener) {
  if (answered_.exchange(true)) return;
  StreamAnswer answer{refusable(request_), uses_reserve_, std::move(headers), std::move(opener)};
  ConnectionLoop::post(core_->loop, connection_,
                       [answer = std::move(answer)](ConnectionLoop& loop, Connection& connection) {
                         loop.open_stream(connection, answer);
                       });
}

void ConnectionExchange::reply_stream(HeaderList headers, std::string events,
                                      std::shared_ptr<const void> held) {
  Reply whole = whole_stream(std::move(headers), std::move(events));
  whole.held = std::move(held);
  reply(std::move(whole));
}

}  // namespace baton::http
