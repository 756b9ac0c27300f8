#include "grpc/call.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cctype>
#include <exception>
#include <iterator>
#include <tuple>

#include "base/text.h"
#include "grpc/base64_files.h"
#include "grpc/bytes.h"
#include "grpc/call_status.h"
#include "grpc/rest_exchange.h"

namespace baton::grpc {
namespace {

using base::ErrorCode;
using ::grpc::ByteBuffer;
using server::http::StreamSource;

constexpr std::size_t kRoom = 64 << 10;  // about this many bytes per pull

}  // namespace

std::string address_in(std::string_view peer) {
  peer.remove_prefix(std::min(peer.find(':') + 1, peer.size()));
  const std::string address = base::percent_decoded(peer.substr(0, peer.rfind(':'))).value_or("");
  const bool in_brackets = address.starts_with('[') && address.ends_with(']');
  return in_brackets ? address.substr(1, address.size() - 2) : address;
}

Metadata metadata_of(const ::grpc::GenericCallbackServerContext& context) {
  Metadata metadata;
  for (const auto& [name, value] : context.client_metadata()) {
    metadata.emplace_back(std::string(name.data(), name.size()), std::string(value.data(), value.size()));
  }
  metadata.emplace_back(":authority", context.host());
  return metadata;
}

Shared::Shared(DefaultAgent default_agent_now, const server::http::Limits& bounds, const GrpcLimits& more,
               server::http::Handler routes, Admission admission)
    : default_agent(std::move(default_agent_now)),
      limits(bounds),
      grpc_limits(more),
      handler(std::move(routes)),
      admits(std::move(admission)),
      workers("grpc-work", bounds.worker_threads, bounds.work_queue_max),
      // Per stream, at most one pull and one drop of its source are queued.
      pulls("grpc-pull", 1, 2 * static_cast<std::size_t>(bounds.streams_max) + 1) {}

::grpc::Status Shared::failure(task::Generation generation, int http_status, std::string_view body) const {
  const CallStatus status = status_of(generation, http_status, body);
  // Details with a message type that we do not know are left out: the rest is still worth sending.
  std::string details;
  if (!status.details.empty()) {
    details = messages.to_bytes("google.rpc.Status", status.details).value_or("");
  }
  return {static_cast<::grpc::StatusCode>(status.code), status.message, details};
}

::grpc::Status Shared::failure(task::Generation generation, const base::Error& error) const {
  const RestError said = rest_error(generation, error);
  return failure(generation, said.http_status, said.body);
}

Call* Call::begin(std::shared_ptr<Shared> shared, const Method& method, Metadata metadata,
                  ::grpc::GenericCallbackServerContext& context) {
  auto call = std::make_shared<Call>(std::move(shared), method, std::move(metadata), context);
  call->self_ = call;
  const Shared& all = *call->shared_;
  call->deadline_ =
      all.connections->loop().after(all.grpc_limits.first_message, [late = std::weak_ptr<Call>(call)] {
        if (const auto self = late.lock()) {
          self->fail({ErrorCode::deadline_exceeded, "the message did not come in time", {}});
        }
      });
  call->StartRead(&call->incoming_);
  return call.get();
}

Call::Call(std::shared_ptr<Shared> shared, const Method& method, Metadata metadata,
           ::grpc::GenericCallbackServerContext& context)
    : shared_(std::move(shared)),
      method_(method),
      context_(context),
      metadata_(std::move(metadata)),
      peer_(context.peer()) {
  ++shared_->calls;
}

void Call::OnReadDone(bool ok) {
  shared_->connections->loop().cancel(deadline_);
  if (state_.with([](const State& state) { return state.ended; })) return;  // too late
  if (!ok) return fail({ErrorCode::invalid_request, "the call has no message", {}});
  const bool taken = shared_->workers.try_submit([self = shared_from_this()] { self->run(); });
  if (!taken) fail({ErrorCode::overloaded, "too many requests are waiting", {}});
}

void Call::run() {
  try {
    auto json = shared_->messages.to_json(method_.full(method_.request), bytes_of(incoming_));
    incoming_.Clear();
    if (!json) return fail(json.error());
    if (sends_base64_text()) json = with_files_decoded(std::move(*json));
    auto request = rest_request(method_, std::move(*json), metadata_, shared_->default_agent());
    if (!request) return fail(request.error());
    request->remote_address = address_in(context_.peer());
    shared_->handler(std::make_shared<RestExchange>(shared_from_this(), std::move(*request)));
  } catch (const std::exception& error) {
    spdlog::error("grpc: a call's handler threw: {}", error.what());
    fail({ErrorCode::internal, "internal error", {}});
  }
}

bool Call::sends_base64_text() const {
  if (!shared_->grpc_limits.decodes_base64_files || method_.generation != task::Generation::v0_3)
    return false;
  const auto agent = std::find_if(metadata_.begin(), metadata_.end(),
                                  [](const auto& entry) { return entry.first == "user-agent"; });
  return agent != metadata_.end() && may_send_base64_text(agent->second);
}

base::Result<ByteBuffer> Call::message_of(const std::string& json) const {
  const auto bytes = shared_->messages.to_bytes(method_.full(method_.response), json);
  if (!bytes) {
    spdlog::error("grpc: {} {}", bytes.error().for_caller, bytes.error().for_log);
    return base::fail(bytes.error());
  }
  const ::grpc::Slice slice(*bytes);
  return ByteBuffer(&slice, 1);
}

void Call::fail(const base::Error& error) {
  end(shared_->failure(method_.generation, error));
}

void Call::answer(const server::http::Reply& reply) {
  if (reply.status >= 300) return end(shared_->failure(method_.generation, reply.status, reply.body));
  auto message = message_of(reply.body);
  if (!message) return fail(message.error());
  add_headers(reply.headers);
  std::deque<ByteBuffer> messages;
  messages.push_back(std::move(*message));
  end(::grpc::Status::OK, std::move(messages));
}

// Adds the active extensions.
void Call::add_headers(const Headers& headers) {
  state_.with([&](State& state) {
    if (state.finished) return;
    for (const auto& [name, value] : headers) {
      std::string key = name;
      for (char& c : key) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      if (key.ends_with("a2a-extensions")) context_.AddInitialMetadata(key, value);
    }
  });
}

void Call::open(const Headers& headers, server::http::StreamOpener opener) {
  const auto self = shared_from_this();  // the opener may hold the last reference
  const bool may_stream = shared_->streams++ < shared_->limits.streams_max;
  if (!may_stream) {
    --shared_->streams;
    return fail({ErrorCode::overloaded, "too many streams are open", {}});
  }
  add_headers(headers);
  const bool late = state_.with([&](State& state) {
    if (state.finished || state.left) return true;
    opener_ = std::move(opener);
    state.streams = state.woken = true;
    return false;
  });
  // If the client left first, there is no source to drop, and nothing would drop the opener later.
  if (!late) return advance();
  --shared_->streams;
}

void Call::end(::grpc::Status status, std::deque<ByteBuffer> messages) {
  state_.with([&](State& state) {
    if (state.ended || state.finished) return;
    std::move(messages.begin(), messages.end(), std::back_inserter(state.waiting));
    state.status = std::move(status);
    state.ended = true;
  });
  advance();
}

bool Call::State::may_pull() const {
  return streams && woken && !pulling && !writing && waiting.empty() && !ended && !left && !finished;
}

Call::Step Call::next_step(State& state) {
  if (state.finished || state.writing) return Step::none;
  if (!state.left && !state.waiting.empty()) {
    outgoing_ = std::move(state.waiting.front());
    state.waiting.pop_front();
    state.answered = true;
    const bool last = state.ended && state.status.ok() && state.waiting.empty();
    (last ? state.finished : state.writing) = true;
    return last ? Step::write_last : Step::write;
  }
  if (state.left || state.ended) {
    if (state.left) state.status = ::grpc::Status::CANCELLED;
    state.answered |= !state.left;
    state.finished = true;
    return Step::finish;
  }
  if (!state.may_pull()) return Step::none;
  state.woken = false;
  state.pulling = true;
  return Step::pull;
}

// Once `finished` is set, the state's status does not change.
void Call::advance() {
  const auto self = shared_from_this();  // OnDone may come before this returns
  ::grpc::Status status;
  bool streams = false;
  const Step step = state_.with([&](State& state) {
    const Step next = next_step(state);
    status = state.status;
    streams = state.streams;
    return next;
  });
  const bool finishes = step == Step::write_last || step == Step::finish;
  if (finishes && streams) drop_source();
  if (step == Step::write) StartWrite(&outgoing_);
  if (step == Step::write_last) StartWriteAndFinish(&outgoing_, ::grpc::WriteOptions(), status);
  if (step == Step::finish) Finish(status);
  if (step == Step::pull) pull_soon();
}

// The source indirectly holds this call, so it must be dropped. Until then the stream keeps its place, so the
// queue has room for this.
void Call::drop_source() {
  std::ignore = shared_->pulls.try_submit([self = shared_from_this()] {
    self->opener_ = nullptr;
    self->source_.reset();
    --self->shared_->streams;
  });
}

void Call::wake() {
  const bool pulls = state_.with([](State& state) {
    state.woken = true;
    if (!state.may_pull()) return false;
    state.woken = false;
    return state.pulling = true;
  });
  if (pulls) pull_soon();
}

void Call::pull_soon() {
  const bool taken = shared_->pulls.try_submit([self = shared_from_this()] { self->pull(); });
  if (!taken) fail({ErrorCode::unavailable, "the server is stopping", {}});
}

void Call::pull() {
  const bool over = state_.with([](State& state) { return state.finished || state.left; });
  if (over) return;
  try {
    pull_some();
  } catch (const std::exception& error) {
    spdlog::error("grpc: a stream's source threw: {}", error.what());
    state_.with([](State& state) { state.pulling = false; });
    fail({ErrorCode::internal, "internal error", {}});
  }
}

void Call::pull_some() {
  if (opener_) {
    source_ = std::exchange(opener_, nullptr)([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->wake();
    });
  }
  std::string bytes;
  const StreamSource::Next next = source_->pull(bytes, kRoom);
  std::deque<ByteBuffer> messages;
  ::grpc::Status status;
  const bool good = take_events(bytes, messages, status);
  const bool ends = !good || next == StreamSource::Next::end;
  state_.with([&](State& state) {
    state.pulling = false;
    std::move(messages.begin(), messages.end(), std::back_inserter(state.waiting));
    if (next == StreamSource::Next::more) state.woken = true;
    if (ends && !state.ended) state.status = std::move(status);
    state.ended |= ends;
  });
  advance();
}

// Returns false if the stream is over; `status` then says why.
bool Call::take_events(std::string_view bytes, std::deque<ByteBuffer>& messages, ::grpc::Status& status) {
  const auto fed = reader_.feed(bytes, [&](const wire::SseEvent& event) {
    if (event.type == "error") {
      status = shared_->failure(method_.generation, 500, event.data);
      return false;
    }
    auto message = message_of(event.data);
    if (!message) {
      status = shared_->failure(method_.generation, message.error());
      return false;
    }
    messages.push_back(std::move(*message));
    return true;
  });
  if (!fed) status = shared_->failure(method_.generation, fed.error());
  return fed && *fed;
}

void Call::OnWriteDone(bool ok) {
  state_.with([&](State& state) {
    state.writing = false;
    if (!ok) state.left = true;
  });
  advance();
}

void Call::OnCancel() {
  state_.with([](State& state) { state.left = true; });
  advance();
}

void Call::OnDone() {
  --shared_->calls;
  const bool answered = state_.with([](const State& state) { return state.answered; });
  shared_->connections->end_call(peer_, !answered);
  self_.reset();
}

}  // namespace baton::grpc
