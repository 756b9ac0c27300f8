#include "client/follow.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "client/decode.h"
#include "json/document.h"

namespace baton::client {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kDelayFirst{100}, kDelayMax{5'000};
// A short limit for a server that has never answered, because it most likely does not exist.
constexpr milliseconds kFirstContact{5'000};
constexpr milliseconds kAtOnce{2'000};
constexpr char kNotKnown[] = "; the message may or may not have arrived";

bool still_waits(const protocol::a2a::Update& update) {
  const auto* task = std::get_if<task::Task>(&update);
  return task != nullptr && task::is_waiting(task->status.state);
}

CallError lost(const StreamEnd& end) {
  return end.error ? *end.error : CallError{"the connection closed before the task's stream ended", 0, true};
}

FollowStep wait_for(milliseconds time) {
  return {.kind = FollowStep::Kind::wait, .time = time};
}

// Whether the pause that the server asks for takes longer than following may. A breaker's pause is our own.
bool asks_too_much(const CallError& error, std::chrono::nanoseconds silent, milliseconds give_up_after) {
  return !error.held && silent + error.retry_after > give_up_after;
}

}  // namespace

Follower::Follower(FollowPlan plan, FollowHooks hooks, bool may_read)
    : plan_(std::move(plan)),
      hooks_(std::move(hooks)),
      may_read_(may_read),
      sending_(plan_.first_request.has_value()),
      after_(plan_.after),
      delay_(kDelayFirst) {
  end_.task = plan_.task;
}

FollowStep Follower::begin() {
  silent_since_ = hooks_.now();
  return open_next();
}

FollowStep Follower::open_next() {
  end_.at_gap = plan_.ends_at_gap && plan_.dialect->names_tasks() && !sending_ && !after_;
  if (end_.at_gap) return finish({});
  progress_ = false;
  broken_.reset();
  messages_ = 0;
  first_on_connection_ = true;
  seen_before_ = after_.value_or(0);
  opened_ = hooks_.now();
  return {.kind = FollowStep::Kind::open, .request = next_request()};
}

bool Follower::closed(StreamEnd end) {
  last_ = std::move(end);
  // Some servers send numbers without an event.
  if (last_.last_number > after_.value_or(0)) {
    after_ = last_.last_number;
    heard_ = progress_ = true;
  }
  if (ends_with_messages()) {
    end_.state = task::State::completed;
    over_ = true;
  }
  if (!over_ && !is_over(last_, hooks_.now() - opened_)) return false;
  finish({});
  return true;
}

FollowStep Follower::after_stream() {
  hopeless_ = hopeless(last_);
  // The server has answered something else than a stream: the task itself tells how it is.
  const bool is_refused = last_.error && last_.error->status != 0;
  if (hopeless_ || is_refused) return look(hopeless_ ? *hopeless_ : *last_.error);
  return pause();
}

// Reads the task after a subscription was refused with `error`, or once after one in a send's stream. A task
// that has ended may have no stream (in 1.0, and on some servers before); servers without subscriptions, and
// proxies, answer anything. Once the task's id is known, only the answer to reading it is final.
FollowStep Follower::look(const CallError& error) {
  // Some servers answer "not found" to a subscription although the task exists.
  const bool no_stream = plan_.until_waiting || error.rpc_code == protocol::a2a::kUnsupportedOperation ||
                         error.rpc_code == protocol::a2a::kTaskNotFound ||
                         (error.rpc_code == protocol::a2a::kInvalidParams && !after_);
  const bool may_look = no_stream && may_read_ && !end_.task.empty() && !end_.unknown;
  // A send that showed the task has arrived, though its stream may end with an error.
  const bool has_arrived = !sending_ || (heard_ && !plan_.answers);
  if (!has_arrived || !may_look || (broken_ && !plan_.until_waiting)) return after_look();
  return {.kind = FollowStep::Kind::read, .task = end_.task};
}

FollowStep Follower::read(const tl::expected<task::Json, CallError>& result) {
  switch (seen_in(result)) {
    case Seen::its_end:
      return finish({});
    case Seen::alive:
      if (sending_) break;
      silent_since_ = hooks_.now();  // the task still works but has no stream, so it is polled
      return pause();
    case Seen::no_answer:
      if (sending_) break;
      return pause();
    case Seen::unread:
      break;
  }
  return after_look();
}

Follower::Seen Follower::seen_in(const tl::expected<task::Json, CallError>& result) {
  if (!result) {
    const CallError& why = result.error();
    if (!is_final(why) && plan_.until_waiting) return Seen::no_answer;
    if (is_final(why)) final_ = why;
    return Seen::unread;
  }
  const auto right = may_decode(result->text, plan_.intake);
  if (!right) return Seen::unread;
  const auto document = json::Document::parse_view(result->text);
  auto task = document ? plan_.dialect->read_task(document->root()) : base::fail(document.error());
  if (!task) {
    const bool may_change = plan_.until_waiting && task.error().code != base::ErrorCode::too_large;
    return may_change ? Seen::no_answer : Seen::unread;
  }
  end_.state = task->status.state;
  const bool is_over = plan_.until_waiting ? task::is_stopped(*end_.state) : task::is_terminal(*end_.state);
  if (is_over || plan_.until_waiting) hooks_.on_event(result->text, std::move(*task));
  if (is_over) return Seen::its_end;
  return plan_.until_waiting ? Seen::alive : Seen::unread;
}

// The task itself says nothing.
FollowStep Follower::after_look() {
  if (hopeless_) return finish(final_ && !sending_ ? final_ : hopeless_);
  return pause();
}

FollowStep Follower::pause() {
  // A quiet stream that stayed open for a while counts as contact; one that closed immediately does not.
  if (progress_ || (last_.opened && hooks_.now() - opened_ > kAtOnce)) {
    silent_since_ = hooks_.now();
    delay_ = kDelayFirst;
  }
  const CallError why = broken_ ? *broken_ : lost(last_);
  if (gave_up()) return finish(why);
  // Reports once for each period without contact.
  if (hooks_.on_trouble && delay_ == kDelayFirst) hooks_.on_trouble(why.text);
  return wait_for(pause_time());
}

FollowStep Follower::waited() {
  delay_ = std::min(delay_ * 2, kDelayMax);
  return open_next();
}

const FollowEnd& Follower::stop() {
  end_.stopped = true;
  finish({});
  return end_;
}

FollowStep Follower::finish(std::optional<CallError> error) {
  end_.error = std::move(error);
  end_.last_number = after_.value_or(0);
  return {};
}

StreamRequest Follower::next_request() const {
  // In 0.1 a Baton numbers events only if the client sends a number, here 0. The stream of a send begins
  // with its own first event anyway.
  if (sending_ && plan_.dialect->names_tasks()) return {*plan_.first_request, 0};
  if (sending_) return {*plan_.first_request, {}};
  return {plan_.dialect->write_subscribe(end_.task), after_};
}

bool Follower::accept(std::int64_t number, std::string_view result) {
  // Compares only with earlier connections: events do not repeat within one, and some servers give events
  // of the same moment the same number.
  if (number > 0 && number <= seen_before_) return true;
  // The snapshot sent on subscribing has no number, and may be the same as on the last subscription.
  const bool snapshot = number == 0 && !sending_ && std::exchange(first_on_connection_, false);
  const Snapshot now{result.size(), std::hash<std::string_view>()(snapshot ? result : "")};
  if (snapshot && now == snapshot_) return true;
  const auto document = json::Document::parse_view(result);
  auto update = document ? plan_.dialect->read_update(document->root()) : base::fail(document.error());
  if (!update) {
    broken_ = CallError{"the stream contained an invalid event: " + update.error().for_caller, 0, false};
    return false;
  }
  const bool is_first = std::exchange(first_event_, false);
  if (is_first && plan_.answers && sending_ && still_waits(*update)) return heard_ = progress_ = true;
  if (number > 0) after_ = std::max(number, after_.value_or(0));
  if (snapshot) snapshot_ = now;
  heard_ = progress_ = true;
  note_state(*update);
  hooks_.on_event(result, std::move(*update));
  return !over_;
}

void Follower::note_state(const protocol::a2a::Update& update) {
  if (const auto* task = std::get_if<task::Task>(&update)) {
    end_.state = task->status.state;
    if (end_.task.empty() || (sending_ && plan_.answers)) end_.task = task->id;
  }
  if (const auto* status = std::get_if<protocol::a2a::StatusUpdate>(&update)) {
    end_.state = status->status.state;
    if (end_.task.empty()) end_.task = status->task;
  }
  const auto* message = std::get_if<protocol::a2a::MessageReply>(&update);
  messages_ = message != nullptr ? messages_ + 1 : 0;
  is_empty_ = message != nullptr && message->message.parts.empty();
  has_task_ = has_task_ || message == nullptr;
  // Does not stop at a terminal state: a subscription may show an earlier end of a reopened task. The
  // server decides when the stream is over.
  over_ = plan_.until_waiting && end_.state && task::is_stopped(*end_.state);
}

// Returns true if messages in place of a task are the whole answer. Some servers send each piece of an answer
// as a message, and some of these a task's states around them: then the stream broke off if it has several
// messages and no end.
bool Follower::ends_with_messages() const {
  if (broken_ || messages_ == 0) return false;
  if (!last_.error) return messages_ == 1 || !has_task_;
  // By A2A a message is whole, and nothing follows it. How the connection ends then says nothing about it.
  return last_.error->lost && messages_ == 1 && !is_empty_ && !has_task_;
}

// Returns true if the connection ended because the task has no more events.
bool Follower::is_over(const StreamEnd& end, std::chrono::nanoseconds lasted) const {
  if (broken_ || !end_.state || (end.error && end.error->lost)) return false;
  if (task::is_terminal(*end_.state)) return true;
  // Some servers end the stream of a waiting task; a Baton does so only when it stops. So this subscribes
  // again: a stream that then closes immediately without an event is over.
  return !end.error && task::is_waiting(*end_.state) && !progress_ && lasted < kAtOnce;
}

// Returns the pause that the server asks for, or else a random one between half of the delay and all of it.
milliseconds Follower::pause_time() const {
  if (last_.error && last_.error->retry_after > delay_) return last_.error->retry_after;
  return hooks_.jitter ? delay_ / 2 + milliseconds(std::llround(hooks_.jitter() * delay_.count() / 2))
                       : delay_;
}

// Returns an error that another try would not fix. Also decides whether the next try sends a lost message
// again or subscribes.
std::optional<CallError> Follower::hopeless(const StreamEnd& end) {
  if (broken_) return broken_;
  constexpr int kHasNoStreams = 501;
  const bool is_refused =
      plan_.has_other_way && sending_ && !heard_ && end.error && end.error->status == kHasNoStreams;
  const bool lost = !end.error || (end.error->lost && !is_refused);
  const bool new_to_server = !sending_ && !heard_ && plan_.may_send_again && plan_.dialect->names_tasks();
  if (!lost && new_to_server && end.error->rpc_code == protocol::a2a::kTaskNotFound) {
    sending_ = true;
    return std::nullopt;
  }
  if (!lost) return end.error;
  if (!sending_) return std::nullopt;
  const bool unsent = end.error && end.error->unsent;
  // Sends again if the server did not act on the request, or recognises a repetition by the message's id.
  if (!heard_ && (unsent || (!plan_.dialect->names_tasks() && !plan_.sends_once))) return std::nullopt;
  sending_ = false;
  if (heard_ && !end_.task.empty()) return std::nullopt;
  if (heard_ || plan_.sends_once || !plan_.may_send_again) {
    end_.unknown = true;
    return CallError{(end.error ? end.error->text : "the connection was lost") + kNotKnown, 0, true};
  }
  if (!plan_.answers && !plan_.ends_at_gap) after_ = 0;
  return std::nullopt;
}

bool Follower::gave_up() const {
  const bool met = heard_ || plan_.is_met;
  const milliseconds patience = met ? plan_.give_up_after : std::min(plan_.give_up_after, kFirstContact);
  const auto silent = hooks_.now() - silent_since_;
  return silent + delay_ > patience ||
         (last_.error && asks_too_much(*last_.error, silent, plan_.give_up_after));
}

PlainSend::PlainSend(FollowPlan plan, FollowHooks hooks)
    : plan_(std::move(plan)), hooks_(std::move(hooks)), delay_(kDelayFirst) {
  end_.task = plan_.task;
}

FollowStep PlainSend::answered(const tl::expected<task::Json, CallError>& result) {
  if (result) {
    show(*result);
    return {};
  }
  const CallError& error = result.error();
  if (!silent_since_) silent_since_ = hooks_.now();
  end_.error = error;
  const auto silent = hooks_.now() - *silent_since_;
  const bool patient = silent + delay_ < plan_.give_up_after;
  if (!error.lost || plan_.dialect->names_tasks() || !patient) return {};
  if (plan_.sends_once && !error.unsent) {
    end_.unknown = true;
    end_.error->text += kNotKnown;
    return {};
  }
  if (asks_too_much(error, silent, plan_.give_up_after)) return {};
  if (hooks_.on_trouble && delay_ == kDelayFirst) hooks_.on_trouble(error.text);
  return wait_for(std::max(delay_, error.retry_after));
}

FollowStep PlainSend::waited() {
  delay_ = std::min(delay_ * 2, kDelayMax);
  return begin();
}

const FollowEnd& PlainSend::stop() {
  end_.stopped = true;
  return end_;
}

void PlainSend::show(const task::Json& result) {
  const auto right = may_decode(result.text, plan_.intake);
  if (!right) {
    end_.error = CallError{right.error().for_caller, 0, false};
    return;
  }
  const auto document = json::Document::parse_view(result.text);
  auto update = document ? plan_.dialect->read_update(document->root()) : base::fail(document.error());
  if (!update) {
    end_.error = CallError{"the server's answer is invalid: " + update.error().for_caller, 0, false};
    return;
  }
  end_.error.reset();
  end_.state = task::State::completed;
  if (const auto* task = std::get_if<task::Task>(&*update)) {
    end_.state = task->status.state;
    end_.task = task->id;
  }
  // A small task of 0.1 has the same form as a status event.
  if (const auto* status = std::get_if<protocol::a2a::StatusUpdate>(&*update))
    end_.state = status->status.state;
  hooks_.on_event(result.text, std::move(*update));
}

FollowEnd follow(const FollowPlan& plan, const FollowWorld& world) {
  using Kind = FollowStep::Kind;
  Follower follower(plan, world, static_cast<bool>(world.read_task));
  for (FollowStep step = follower.begin(); step.kind != Kind::end;) {
    if (step.kind == Kind::read) {
      step = follower.read(world.read_task(step.task));
    } else if (step.kind == Kind::wait) {
      if (world.wait(step.time)) return follower.stop();
      step = follower.waited();
    } else {
      const bool is_over =
          follower.closed(world.open(step.request, [&](std::int64_t number, std::string_view result) {
            return follower.accept(number, result);
          }));
      if (is_over) break;
      if (world.wait(milliseconds(0))) return follower.stop();
      step = follower.after_stream();
    }
  }
  return follower.end();
}

FollowEnd send_plain(const FollowPlan& plan, const FollowWorld& world) {
  using Kind = FollowStep::Kind;
  PlainSend sending(plan, world);
  for (FollowStep step = sending.begin(); step.kind != Kind::end;) {
    if (step.kind == Kind::wait) {
      if (world.wait(step.time)) return sending.stop();
      step = sending.waited();
    } else {
      const auto result = world.send(*plan.first_request);
      if (world.wait(milliseconds(0))) return sending.stop();
      step = sending.answered(result);
    }
  }
  return sending.end();
}

}  // namespace baton::client
