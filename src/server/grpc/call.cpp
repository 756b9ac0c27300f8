#include "server/grpc/call.h"

#include <google/protobuf/any.pb.h>
#include <google/protobuf/duration.pb.h>
#include <grpc/grpc.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cctype>
#include <exception>
#include <iterator>
#include <tuple>
#include <utility>

#include "protocol/grpc/bytes.h"
#include "server/grpc/call_status.h"
#include "server/grpc/fields.h"

namespace baton::server::grpc {
namespace {

using base::ErrorCode;
using ::grpc::ByteBuffer;
using http::StreamSource;

constexpr std::size_t kRoom = 64 << 10;  // about this many bytes per pull; so many unsent ones do not count
// Fewer bytes are no progress: a client that reads nothing of a call still takes answers to its pings.
constexpr std::uint64_t kTakenMin = 4 << 10;
// So many stall times a message may take beside one for each kTakenMin of it. Others may be before it.
constexpr std::uint64_t kForOthers = 10;

std::size_t bytes_in(const std::deque<ByteBuffer>& messages) {
  std::size_t bytes = 0;
  for (const ByteBuffer& message : messages) bytes += message.Length();
  return bytes;
}

ByteBuffer buffer_of(std::string_view bytes) {
  const ::grpc::Slice slice(bytes.data(), bytes.size());
  return {&slice, 1};
}

}  // namespace

::grpc::Status no_agent() {
  return {::grpc::StatusCode::NOT_FOUND, "agent not found"};
}

Metadata metadata_of(const ::grpc::GenericCallbackServerContext& context) {
  Metadata metadata;
  for (const auto& [name, value] : context.client_metadata()) {
    metadata.emplace_back(std::string(name.data(), name.size()), std::string(value.data(), value.size()));
  }
  metadata.emplace_back(":authority", context.host());
  return metadata;
}

Shared::Shared(DefaultAgent default_agent_now, const http::Limits& bounds, const GrpcLimits& more,
               Admission admission, Operate operate, TokenChecks checks)
    : default_agent(std::move(default_agent_now)),
      limits(bounds),
      grpc_limits(more),
      admits(std::move(admission)),
      run(std::move(operate)),
      tokens(std::move(checks)),
      workers("grpc-work", bounds.worker_threads, bounds.work_queue_max),
      // Per stream, at most one pull and one drop of its source are queued.
      pulls("grpc-pull", 1, 2 * static_cast<std::size_t>(bounds.streams_max) + 1) {}

std::string Shared::status_bytes(const CallStatus& status) const {
  const auto message = schema.make("google.rpc.Status");
  const Writing out(*message);
  out.number("code", static_cast<int>(status.code));
  out.text("message", status.message);
  const auto add = [&](const char* name, const auto& write) {
    const auto detail = schema.make(std::string("google.rpc.") + name);
    write(Writing(*detail));
    out.add_as<pb::Any>("details").PackFrom(*detail);
  };
  add("ErrorInfo", [&](const Writing& info) {
    info.text("reason", std::string(status.reason));
    info.text("domain", std::string(protocol::a2a::kErrorDomain));
    if (status.task.empty()) return;
    const Writing entry = info.add("metadata");
    entry.text("key", "taskId");
    entry.text("value", status.task.value);
  });
  if (!status.field.empty()) {
    add("BadRequest", [&](const Writing& bad) {
      const Writing violation = bad.add("field_violations");
      violation.text("field", status.field);
      violation.text("description", status.description);
    });
  }
  if (status.retry_after_s > 0) {
    add("RetryInfo", [&](const Writing& retry) {
      retry.as<pb::Duration>("retry_delay").set_seconds(status.retry_after_s);
    });
  }
  return message->SerializeAsString();
}

::grpc::Status Shared::failure(task::ProtocolVersion version, const base::Error& error,
                               const task::TaskId& named) const {
  const CallStatus status = status_of(version, error, named);
  return {static_cast<::grpc::StatusCode>(status.code), status.message, status_bytes(status)};
}

GrpcCall* GrpcCall::start(std::shared_ptr<Shared> shared, const protocol::grpc::Method& method, Peer peer,
                          std::optional<server::Admitted> by, http::Request head,
                          ::grpc::GenericCallbackServerContext& context) {
  auto call = std::make_shared<GrpcCall>(std::move(shared), method, std::move(peer), std::move(by),
                                         std::move(head), context);
  call->self_ = call;
  const Shared& all = *call->shared_;
  call->check_time_in(std::min(all.grpc_limits.first_message, all.limits.stall_time));
  if (call->by_) {
    call->StartRead(&call->incoming_);
  } else {
    call->await_token();
  }
  return call.get();
}

GrpcCall::GrpcCall(std::shared_ptr<Shared> shared, const protocol::grpc::Method& method, Peer peer,
                   std::optional<server::Admitted> by, http::Request head,
                   ::grpc::GenericCallbackServerContext& context)
    : shared_(std::move(shared)),
      method_(method),
      context_(context),
      peer_(std::move(peer)),
      by_(std::move(by)),
      head_(std::move(head)),
      breakable_(std::in_place, &context) {
  ++shared_->calls;
}

GrpcCall::~GrpcCall() {
  count_unsent(0);
}

void GrpcCall::await_token() {
  switch (shared_->tokens.await(head_, [self = shared_from_this()] { self->admit(); })) {
    case TokenSource::Wait::begun:
      return;
    case TokenSource::Wait::none:
      return admit();
    case TokenSource::Wait::full:
      break;
  }
  fail({ErrorCode::overloaded, "too many tokens wait to be checked; try again later", {}});
}

void GrpcCall::admit() {
  auto by = shared_->admits(head_);
  if (!by) return fail(by.error());
  if (!by->endpoint.agent) return end(no_agent());
  by_.emplace(std::move(*by));
  const bool reads = state_.with(
      [](State& state) { return state.begins_read = !state.ended && !state.left && !state.finished; });
  if (!reads) return;
  StartRead(&incoming_);
  state_.with([](State& state) { state.begins_read = false; });
  advance();
}

void GrpcCall::OnReadDone(bool ok) {
  const bool is_late = state_.with([](State& state) {
    state.awaits_message = false;
    return state.ended;
  });
  if (is_late) return;
  if (!ok) {
    // A reset may be reported before or after this, so such a call counts as given up in any case.
    state_.with([](State& state) { state.has_no_message = true; });
    return fail({ErrorCode::invalid_request, "the call has no message", {}});
  }
  const bool taken = shared_->workers.try_submit([self = shared_from_this()] { self->run(); });
  if (!taken) fail({ErrorCode::overloaded, "too many requests are waiting; try again later", {}});
}

void GrpcCall::run() {
  try {
    const std::string bytes = protocol::grpc::bytes_of(incoming_);
    incoming_.Clear();
    serve(shared_from_this(), std::move(*by_), std::move(head_), *shared_, method_, bytes);
  } catch (const std::exception& error) {
    spdlog::error("grpc: an operation threw: {}", error.what());
    fail({ErrorCode::internal, "internal error", {}});
  }
}

void GrpcCall::fail(const base::Error& error, const task::TaskId& named) {
  end(shared_->failure(method_.version, error, named));
}

void GrpcCall::answer(Header header, const std::string& bytes, std::shared_ptr<const void> held) {
  add_header(std::move(header));
  std::deque<ByteBuffer> messages;
  messages.push_back(buffer_of(bytes));
  end(::grpc::Status::OK, std::move(messages), std::move(held));
}

void GrpcCall::answer_frames(Header header, std::string_view frames, std::shared_ptr<const void> held) {
  add_header(std::move(header));
  std::deque<ByteBuffer> messages;
  ::grpc::Status status;
  take_frames(frames, messages, status);
  end(std::move(status), std::move(messages), std::move(held));
}

void GrpcCall::add_header(Header header) {
  // gRPC ends the program for other bytes in a header.
  const bool may_be_sent = std::ranges::all_of(header.second, [](char c) { return c >= ' ' && c <= '~'; });
  if (header.second.empty() || !may_be_sent) return;
  for (char& c : header.first) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  state_.with([&](State& state) {
    if (!state.finished) context_.AddInitialMetadata(header.first, header.second);
  });
}

void GrpcCall::open(Header header, http::StreamOpener opener) {
  const auto self = shared_from_this();  // the opener may hold the last reference
  const bool may_stream = shared_->streams++ < shared_->limits.streams_max;
  if (!may_stream) {
    --shared_->streams;
    return fail({ErrorCode::overloaded, "too many streams are open; try again later", {}});
  }
  add_header(std::move(header));
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

void GrpcCall::end(::grpc::Status status, std::deque<ByteBuffer> messages, std::shared_ptr<const void> held) {
  // A single large answer must not end all other calls, or be ended for a small one.
  constexpr std::size_t kParts = 4;
  const std::size_t counts = held ? 0 : std::min(bytes_in(messages), shared_->limits.unsent_max / kParts);
  const bool is_first = state_.with([&](State& state) {
    if (state.ended || state.finished) return false;
    std::move(messages.begin(), messages.end(), std::back_inserter(state.waiting));
    state.status = std::move(status);
    state.held = std::move(held);
    return state.ended = true;
  });
  if (is_first && counts > 0) {
    progress_ = base::SteadyTime::now();
    count_unsent(counts);
  }
  advance();
}

bool GrpcCall::State::may_pull() const {
  return streams && woken && !pulling && !writing && waiting.empty() && !ended && !left && !finished;
}

GrpcCall::Step GrpcCall::next_step(State& state, ByteBuffer& message) {
  if (state.finished || state.writing || state.begins_read) return Step::none;
  if (!state.left && !state.waiting.empty()) {
    message.Swap(&state.waiting.front());
    state.waiting.pop_front();
    state.answered = true;
    const bool last = state.ended && state.status.ok() && state.waiting.empty();
    (last ? state.finished : state.writing) = true;
    return last ? Step::write_last : Step::write;
  }
  if (state.left || state.ended) {
    if (state.left) state.status = ::grpc::Status::CANCELLED;
    state.answered |= !state.left && !state.has_no_message;
    state.finished = true;
    return Step::finish;
  }
  if (!state.may_pull()) return Step::none;
  state.woken = false;
  state.pulling = true;
  return Step::pull;
}

// Once `finished` is set, the state's status does not change.
void GrpcCall::advance() {
  const auto self = shared_from_this();  // OnDone may come before this returns
  // gRPC has its own references to the bytes before the writes below return. It asks for the buffer until
  // OnWriteDone only for interceptors, of which there are none, and for calls that are not bound yet, whose
  // message cannot have been read.
  ByteBuffer message;
  ::grpc::Status status;
  bool is_unwatched = false;
  const Step step = state_.with([&](State& state) {
    const Step next = next_step(state, message);
    status = state.status;
    if (!state.writing && !state.finished) return next;
    if (next != Step::none) {
      progress_ = state.step_began = base::SteadyTime::now();
      state.step_bytes = message.Length();
    }
    is_unwatched = !std::exchange(state.is_watched, true);
    return next;
  });
  if (is_unwatched) {
    taken_ = shared_->connections->taken(peer_.key);
    check_time_in(shared_->limits.stall_time);
  }
  if (step == Step::write) StartWrite(&message);
  if (step == Step::write_last) StartWriteAndFinish(&message, ::grpc::WriteOptions(), status);
  if (step == Step::finish) Finish(status);
  if (step == Step::pull) pull_soon();
}

void GrpcCall::check_time_in(std::chrono::milliseconds delay) {
  timer_ = shared_->connections->loop().after(delay, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->check_time();
  });
}

void GrpcCall::check_time() {
  bool is_writing = false, is_late = false, is_held_long = false;
  const bool waits = state_.with([&](State& state) {
    is_writing = state.writing || state.finished;
    const auto time = base::SteadyTime::now() - state.step_began;
    const auto times = time / shared_->limits.stall_time;
    const bool holds = state.held || state.has_share;
    is_held_long = is_writing && holds && time > shared_->limits.held_time;
    is_late = is_writing && static_cast<std::uint64_t>(times) >= kForOthers + state.step_bytes / kTakenMin;
    return state.is_watched = is_writing || state.awaits_message;
  });
  if (!waits) return;
  // The client takes bytes of other calls. They may be before those of this call, but hardly while the kernel
  // has room for more.
  if (is_late && !shared_->connections->is_full(peer_.key)) return break_off();
  // As http::Hooks::others_wait. Time alone decides, because the bytes that a client takes of one call cannot
  // be counted.
  const server::AnswerBudget* const answers = is_held_long ? by_->services.answers : nullptr;
  if (answers != nullptr && answers->lacks_room()) return break_off();
  if (is_writing) note_taken();
  const auto due = is_writing ? progress_.load() + shared_->limits.stall_time
                              : begin_ + shared_->grpc_limits.first_message;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - base::SteadyTime::now());
  // The message may have come meanwhile, and its answer may be written.
  if (left.count() > 0) return check_time_in(std::min(left, shared_->limits.stall_time));
  if (is_writing) return break_off();
  state_.with([](State& state) { state.is_watched = false; });
  fail({ErrorCode::deadline_exceeded, "the message did not arrive in time", {}});
}

// gRPC reports a write only when all of it has left, which takes long for a large message on a slow line.
// What a client takes can be seen for its connection only. So a call also makes progress while others of its
// connection do; `check_time` bounds that.
void GrpcCall::note_taken() {
  const std::uint64_t taken = shared_->connections->taken(peer_.key);
  if (taken < taken_ + kTakenMin) return;
  taken_ = taken;
  progress_ = base::SteadyTime::now();
}

// The source indirectly holds this call, so it must be dropped. Until then the stream keeps its place, so the
// queue has room for this.
void GrpcCall::drop_source() {
  std::ignore = shared_->pulls.try_submit([self = shared_from_this()] {
    self->opener_ = nullptr;
    self->source_.reset();
    --self->shared_->streams;
  });
}

// While the client has not taken all messages of the source, this asks the source how much more it holds.
void GrpcCall::wake() {
  const bool pulls = state_.with([](State& state) {
    state.woken = true;
    if (!state.streams || state.pulling || state.ended || state.left || state.finished) return false;
    return state.pulling = true;
  });
  if (pulls) pull_soon();
}

void GrpcCall::pull_soon() {
  const bool taken = shared_->pulls.try_submit([self = shared_from_this()] { self->pull(); });
  if (!taken) fail({ErrorCode::unavailable, "the server is shutting down; try again", {}});
}

void GrpcCall::pull() {
  bool is_over = false, is_behind = false;
  state_.with([&](State& state) {
    is_over = state.finished || state.left;
    is_behind = state.writing || !state.waiting.empty();
    if (is_over) return;
    (is_behind ? state.pulling : state.woken) = false;
  });
  if (is_over) return;
  try {
    if (!is_behind) return pull_some();
    count_stream();
    advance();
  } catch (const std::exception& error) {
    spdlog::error("grpc: a stream's source threw: {}", error.what());
    state_.with([](State& state) { state.pulling = false; });
    fail({ErrorCode::internal, "internal error", {}});
  }
}

void GrpcCall::pull_some() {
  if (opener_) {
    source_ = std::exchange(opener_, nullptr)([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->wake();
    });
  }
  std::string bytes;
  const StreamSource::Next next = source_->pull(bytes, kRoom);
  std::deque<ByteBuffer> messages;
  ::grpc::Status status;
  const bool good = take_frames(bytes, messages, status);
  const bool ends = !good || next == StreamSource::Next::end;
  if (!messages.empty()) progress_ = base::SteadyTime::now();
  const bool has_share = source_->has_share();
  state_.with([&](State& state) {
    state.pulling = false;
    state.has_share = has_share;
    state.unsent += bytes_in(messages);
    std::move(messages.begin(), messages.end(), std::back_inserter(state.waiting));
    if (next == StreamSource::Next::more) state.woken = true;
    if (ends && !state.ended) state.status = std::move(status);
    state.ended |= ends;
  });
  count_stream();
  advance();
}

// Call after `pulling` is reset, so that a later wake calls this again.
void GrpcCall::count_stream() {
  const std::size_t unsent = state_.with([](const State& state) { return state.unsent; });
  // A client is not behind while there is nothing for it: the source is still looking.
  count_unsent(unsent == 0 ? 0 : unsent + source_->held());
}

void GrpcCall::count_unsent(std::size_t bytes) {
  if (bytes <= kRoom) bytes = 0;
  if (bytes == 0 && !is_counted_) return;
  // Bytes that the client took before are no progress of those that count now.
  if (!is_counted_) note_taken();
  std::vector<std::shared_ptr<GrpcCall>> counted;  // all calls, if they are above the limit
  shared_->unsent.with([&](Shared::Unsent& unsent) {
    uncount(unsent, this);
    if (bytes == 0) return;
    unsent.by_call.emplace(this, bytes);
    unsent.bytes += bytes;
    is_counted_ = true;
    if (!is_above(unsent)) return;
    for (const auto& [call, size] : unsent.by_call) {
      if (auto one = call->weak_from_this().lock()) counted.push_back(std::move(one));
    }
  });
  if (!counted.empty()) bound_unsent(counted);
}

// The kernel is asked without the lock.
void GrpcCall::bound_unsent(const std::vector<std::shared_ptr<GrpcCall>>& counted) {
  for (const auto& call : counted) call->note_taken();
  std::vector<std::shared_ptr<GrpcCall>> behind;  // keeps them until the lock is free
  shared_->unsent.with([&](Shared::Unsent& unsent) {
    while (is_above(unsent)) {
      GrpcCall* const most = most_behind(unsent);
      if (auto call = most->weak_from_this().lock()) behind.push_back(std::move(call));
      uncount(unsent, most);
    }
  });
  for (const auto& call : behind) call->break_off();
}

void GrpcCall::uncount(Shared::Unsent& unsent, GrpcCall* call) {
  const auto found = unsent.by_call.find(call);
  if (found == unsent.by_call.end()) return;
  call->is_counted_ = false;
  unsent.bytes -= found->second;
  unsent.by_call.erase(found);
}

bool GrpcCall::is_above(const Shared::Unsent& unsent) const {
  return unsent.bytes > shared_->limits.unsent_max && unsent.by_call.size() > 1;
}

// By the rule that http::Limits::unsent_max states, which weighs time, bytes, and the bytes of an address.
GrpcCall* GrpcCall::most_behind(const Shared::Unsent& unsent) {
  std::unordered_map<std::string_view, double> of_address;
  for (const auto& [call, bytes] : unsent.by_call) {
    of_address[call->peer_.address] += static_cast<double>(bytes);
  }
  const auto now = base::SteadyTime::now();
  const auto weight = [&](const auto& entry) {
    const auto& [call, bytes] = entry;
    const std::chrono::duration<double> still = now - call->progress_.load();
    return (std::max(still.count(), 0.0) + 0.001) * static_cast<double>(bytes) *
           of_address[call->peer_.address];
  };
  return std::ranges::max_element(unsent.by_call, {}, weight)->first;
}

// gRPC calls none of the On... functions within the cancel, so `breakable_` may be locked. The status lets
// clients try again.
void GrpcCall::break_off() {
  breakable_.with([](::grpc::GenericCallbackServerContext* context) {
    if (context == nullptr) return;
    grpc_call_cancel_with_status(context->c_call(), GRPC_STATUS_UNAVAILABLE,
                                 "closed, because the client does not read", nullptr);
  });
}

bool GrpcCall::take_frames(std::string_view frames, std::deque<ByteBuffer>& messages,
                           ::grpc::Status& status) const {
  bool good = true;
  each_frame(frames, [&](FrameKind kind, std::string_view bytes) {
    if (kind == FrameKind::message) return messages.push_back(buffer_of(bytes));
    good = false;
    const std::string details(bytes);
    const auto failure = shared_->schema.parse("google.rpc.Status", details);
    const Reading read(**failure);
    status = {static_cast<::grpc::StatusCode>(read.number("code")), read.text("message"), details};
  });
  return good;
}

void GrpcCall::OnWriteDone(bool ok) {
  progress_ = base::SteadyTime::now();
  // Before the next pull, which counts again.
  const bool has_all = state_.with([](State& state) {
    if (state.waiting.empty()) state.unsent = 0;
    return state.waiting.empty();
  });
  if (has_all) count_unsent(0);
  state_.with([&](State& state) {
    state.writing = false;
    if (!ok) state.left = true;
  });
  advance();
}

void GrpcCall::OnCancel() {
  state_.with([](State& state) { state.left = true; });
  advance();
}

void GrpcCall::OnDone() {
  breakable_.with([](::grpc::GenericCallbackServerContext*& context) { context = nullptr; });
  shared_->connections->loop().cancel(timer_);
  --shared_->calls;
  std::shared_ptr<const void> held;  // released outside the lock
  bool answered = false, streams = false;
  state_.with([&](State& state) {
    held = std::move(state.held);
    answered = state.answered;
    streams = state.streams;
  });
  count_unsent(0);
  if (streams) drop_source();
  shared_->connections->end_call(peer_.key, !answered);
  self_.reset();
}

}  // namespace baton::server::grpc
