// ConnectionLoop, the part that follows one connection: read, parse, hand over, send, close.
#include "base/give_back.h"
#include "http/connection_loop.h"
#include "http/exchange.h"
#include "http/socket_io.h"

namespace baton::http {
namespace {

// After this many steps a connection yields to the others.
constexpr int kStepsInARound = 16;

}  // namespace

void ConnectionLoop::advance(Connection& connection) {
  for (int i = 0; i < kStepsInARound; ++i) {
    if (!connection.open || !connection.output_owner.is_loop()) return;
    if (step(connection) == Step::wait) return;
  }
  if (connection.open && !std::exchange(connection.queued_again, true)) {
    post(core_->loop, connection.shared_from_this(), &ConnectionLoop::go_on);
  }
}

void ConnectionLoop::go_on(Connection& connection) {
  connection.queued_again = false;
  advance(connection);
}

ConnectionLoop::Step ConnectionLoop::step(Connection& connection) {
  const bool client_left = connection.stream && (connection.half_closed || connection.broken);
  if (!client_left && !connection.output.empty() && !connection.write_failed) {
    if (!send_output(connection) && !connection.write_failed) return Step::wait;
  }
  if (client_left || connection.write_failed) {
    close(connection);
    return Step::wait;
  }
  if (connection.stream) return drive_stream(connection);
  if (connection.lingering) return discard(connection);
  if (!connection.close_after) return read_request(connection);
  // Closing now, with client bytes unread, would reset the connection and could destroy the answer. So close
  // only our side, and read until the client has closed its own.
  end_sending(connection.fd.get());
  connection.lingering = true;
  connection.readable = true;
  base::give_back(connection.unread);
  connection.since = now();
  return Step::again;
}

ConnectionLoop::Step ConnectionLoop::read_request(Connection& connection) {
  if (!connection.unread.empty()) {
    const std::string bytes = std::exchange(connection.unread, {});
    parse(connection, bytes);
    return Step::again;
  }
  if (connection.read_ended) return read_end(connection);
  if (!connection.readable) return Step::wait;
  const IoResult got = receive_some(connection.fd.get(), buffer_.data(), buffer_.size());
  if (got.outcome == IoResult::Outcome::closed) return read_end(connection);
  if (got.outcome == IoResult::Outcome::blocked) {
    connection.readable = false;
    return Step::wait;
  }
  // A short read means the socket is empty, and an event will report new bytes, unless the event for its end
  // has been seen already.
  connection.readable = got.count == buffer_.size() || connection.half_closed || connection.broken;
  parse(connection, std::string_view(buffer_.data(), got.count));
  return Step::again;
}

ConnectionLoop::Step ConnectionLoop::read_end(Connection& connection) {
  connection.read_ended = true;
  if (connection.parser.state() == RequestParser::State::idle) {
    close(connection);
    return Step::wait;
  }
  refuse(connection, {400, "the request is incomplete"});
  return Step::again;
}

void ConnectionLoop::parse(Connection& connection, std::string_view bytes) {
  RequestParser& parser = connection.parser;
  const RequestParser::State before = parser.state();
  const std::size_t used = parser.feed(bytes);
  if (used < bytes.size()) connection.unread = bytes.substr(used);
  if (parser.state() != before) connection.since = now();
  if (parser.take_continue()) connection.output = kContinue;
  if (parser.state() == RequestParser::State::complete) dispatch(connection);
  if (parser.state() == RequestParser::State::refused) refuse(connection, parser.refusal());
}

void ConnectionLoop::dispatch(Connection& connection) {
  ++core_->requests;
  ParsedRequest parsed = connection.parser.take();
  connection.shape = {parsed.head_method(), parsed.http_1_0, parsed.keep_alive};
  connection.since = now();
  if (answer_at_once(connection, parsed.request)) return;
  auto exchange =
      std::make_shared<ConnectionExchange>(core_, connection.shared_from_this(), std::move(parsed.request));
  // From here on the exchange owns the connection's output.
  connection.output_owner.give_to_exchange();
  const auto& runs_on_loop = core_->hooks.runs_on_loop;
  if (!runs_on_loop || !runs_on_loop(exchange->request())) return ConnectionExchange::serve_later(exchange);
  connection.handling = true;
  ConnectionExchange::serve(exchange);
  connection.handling = false;
}

// Answers without a worker: requests the hook answers, and all others while the server drains.
bool ConnectionLoop::answer_at_once(Connection& connection, const Request& request) {
  std::optional<Reply> reply;
  if (core_->hooks.answer_at_once) reply = core_->hooks.answer_at_once(request);
  if (!reply && !core_->draining) return false;
  if (core_->draining) connection.shape.keep_alive = false;
  write_answer(connection, reply ? *reply : core_->refusal(request, 503, "the server is shutting down"));
  return true;
}

void ConnectionLoop::refuse(Connection& connection, Refusal refusal) {
  const ParsedRequest* const parsed = connection.parser.parsed();
  connection.shape = {parsed && parsed->head_method(), parsed && parsed->http_1_0, false};
  Request about = parsed ? refusable(parsed->request) : Request();
  about.remote_address = connection.remote_address;
  write_answer(connection, core_->refusal(about, refusal.status, refusal.reason));
}

ConnectionLoop::Step ConnectionLoop::discard(Connection& connection) {
  if (!connection.readable) return Step::wait;
  const IoResult got = receive_some(connection.fd.get(), buffer_.data(), buffer_.size());
  if (got.outcome == IoResult::Outcome::closed) {
    close(connection);
    return Step::wait;
  }
  connection.readable = got.outcome == IoResult::Outcome::moved;
  return connection.readable ? Step::again : Step::wait;
}

}  // namespace baton::http
