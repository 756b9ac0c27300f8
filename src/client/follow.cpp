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

class Following {
 public:
  Following(const FollowPlan& plan, const FollowWorld& world)
      : plan_(plan), world_(world), sending_(plan.first_request.has_value()), after_(plan.after) {
    end_.task = plan.task;
  }

  FollowEnd run() {
    silent_since_ = world_.now();
    for (;;) {
      end_.at_gap = plan_.ends_at_gap && plan_.dialect->names_tasks() && !sending_ && !after_;
      if (end_.at_gap) return finish({});
      progress_ = false;
      first_on_connection_ = true;
      seen_before_ = after_.value_or(0);
      const auto opened = world_.now();
      const StreamEnd end = world_.open(next_request(), [&](std::int64_t number, std::string_view result) {
        return accept(number, result);
      });
      // Some servers send numbers without an event.
      if (end.last_number > after_.value_or(0)) {
        after_ = end.last_number;
        heard_ = progress_ = true;
      }
      if (over_ || is_over(end, world_.now() - opened)) return finish({});
      if (stopped(milliseconds(0))) return finish({});
      const auto error = hopeless(end);
      // The server has answered something else than a stream: the task itself tells how it is.
      const bool is_refused = end.error && end.error->status != 0;
      if (error || is_refused) {
        switch (look(error ? *error : *end.error)) {
          case Seen::its_end:
            return finish({});
          case Seen::alive:
            silent_since_ = world_.now();  // the task still works but has no stream, so it is polled
            break;
          case Seen::no_answer:
            break;
          case Seen::unread:
            if (error) return finish(final_ ? final_ : error);
        }
      }
      // A quiet stream that stayed open for a while counts as contact; one that closed immediately does not.
      if (progress_ || (end.opened && world_.now() - opened > kAtOnce)) {
        silent_since_ = world_.now();
        delay_ = kDelayFirst;
      }
      if (gave_up()) return finish(lost(end));
      // Reports once for each period without contact.
      if (world_.on_trouble && delay_ == kDelayFirst) world_.on_trouble(lost(end).text);
      if (stopped(pause_after(end))) return finish({});
      delay_ = std::min(delay_ * 2, kDelayMax);
    }
  }

 private:
  StreamRequest next_request() const {
    // In 0.1 a Baton numbers events only if the client sends a number, here 0. The stream of a send begins
    // with its own first event anyway.
    if (sending_ && plan_.dialect->names_tasks()) return {*plan_.first_request, 0};
    if (sending_) return {*plan_.first_request, {}};
    return {plan_.dialect->write_subscribe(end_.task), after_};
  }

  // Handles one event. Returns false to end the stream.
  bool accept(std::int64_t number, std::string_view result) {
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
    world_.on_event(result, std::move(*update));
    return !over_;
  }

  static bool still_waits(const protocol::a2a::Update& update) {
    const auto* task = std::get_if<task::Task>(&update);
    return task != nullptr && task::is_waiting(task->status.state);
  }

  void note_state(const protocol::a2a::Update& update) {
    if (const auto* task = std::get_if<task::Task>(&update)) {
      end_.state = task->status.state;
      if (end_.task.empty() || (sending_ && plan_.answers)) end_.task = task->id;
    }
    if (const auto* status = std::get_if<protocol::a2a::StatusUpdate>(&update)) {
      end_.state = status->status.state;
      if (end_.task.empty()) end_.task = status->task;
    }
    const bool is_reply = std::holds_alternative<protocol::a2a::MessageReply>(update);
    if (is_reply) end_.state = task::State::completed;
    // Does not stop at a terminal state: a subscription may show an earlier end of a reopened task. The
    // server decides when the stream is over.
    over_ = is_reply || (plan_.until_waiting && end_.state && task::is_stopped(*end_.state));
  }

  // Returns true if the connection ended because the task has no more events.
  bool is_over(const StreamEnd& end, std::chrono::nanoseconds lasted) const {
    if (broken_ || !end_.state || (end.error && end.error->lost)) return false;
    if (task::is_terminal(*end_.state)) return true;
    // Some servers end the stream of a waiting task; a Baton does so only when it stops. So this subscribes
    // again: a stream that then closes immediately without an event is over.
    return !end.error && task::is_waiting(*end_.state) && !progress_ && lasted < kAtOnce;
  }

  // Returns the pause that the server asks for, or else a random one between half of the delay and all of it.
  milliseconds pause_after(const StreamEnd& end) const {
    if (end.error && end.error->retry_after > delay_) return end.error->retry_after;
    return world_.jitter ? delay_ / 2 + milliseconds(std::llround(world_.jitter() * delay_.count() / 2))
                         : delay_;
  }

  bool stopped(milliseconds time) {
    end_.stopped = world_.wait(time);
    return end_.stopped;
  }

  // Returns an error that another try would not fix. Also decides whether the next try sends a lost message
  // again or subscribes.
  std::optional<CallError> hopeless(const StreamEnd& end) {
    if (broken_) return broken_;
    const bool lost = !end.error || end.error->lost;
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

  // its_end: the task is over, and was shown. alive: it still works. no_answer: the task could not be read
  // now. unread: it was not read, or there is no such task (final_).
  enum class Seen { its_end, alive, no_answer, unread };

  // Reads the task after a subscription was refused with `error`. A task that has ended may have no stream
  // (in 1.0, and on some servers before); servers without subscriptions, and proxies, answer anything. Once
  // the task's id is known, only the answer to reading it is final.
  Seen look(const CallError& error) {
    // Some servers answer "not found" to a subscription although the task exists.
    const bool no_stream = plan_.until_waiting || error.rpc_code == protocol::a2a::kUnsupportedOperation ||
                           error.rpc_code == protocol::a2a::kTaskNotFound ||
                           (error.rpc_code == protocol::a2a::kInvalidParams && !after_);
    if (sending_ || !no_stream || !world_.read_task || end_.task.empty() || broken_ || end_.unknown)
      return Seen::unread;
    const auto result = world_.read_task(end_.task);
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
    if (!task) return Seen::unread;
    end_.state = task->status.state;
    const bool is_over = plan_.until_waiting ? task::is_stopped(*end_.state) : task::is_terminal(*end_.state);
    if (is_over || plan_.until_waiting) world_.on_event(result->text, std::move(*task));
    if (is_over) return Seen::its_end;
    return plan_.until_waiting ? Seen::alive : Seen::unread;
  }

  bool gave_up() const {
    const bool met = heard_ || plan_.is_met;
    const milliseconds patience = met ? plan_.give_up_after : std::min(plan_.give_up_after, kFirstContact);
    return world_.now() - silent_since_ + delay_ > patience;
  }

  static CallError lost(const StreamEnd& end) {
    return end.error ? *end.error
                     : CallError{"the connection closed before the task's stream ended", 0, true};
  }

  FollowEnd finish(std::optional<CallError> error) {
    end_.error = std::move(error);
    end_.last_number = after_.value_or(0);
    return end_;
  }

  const FollowPlan& plan_;
  const FollowWorld& world_;
  bool sending_;
  std::optional<std::int64_t> after_;
  std::int64_t seen_before_ = 0;  // the last number of earlier connections
  // Size and hash of the state that was sent on the last subscription. The state itself may be too large to
  // keep.
  struct Snapshot {
    std::size_t size = 0, hash = 0;
    friend bool operator==(const Snapshot&, const Snapshot&) = default;
  };
  std::optional<Snapshot> snapshot_;
  bool heard_ = false;     // at least one event came
  bool progress_ = false;  // at least one event came on this connection
  bool over_ = false;
  bool first_on_connection_ = true;
  bool first_event_ = true;
  std::optional<CallError> final_;  // the answer to reading the task
  std::optional<CallError> broken_;
  std::chrono::steady_clock::time_point silent_since_;
  milliseconds delay_ = kDelayFirst;
  FollowEnd end_;
};

void take_answer(const FollowPlan& plan, const FollowWorld& world, const task::Json& result, FollowEnd& end) {
  const auto right = may_decode(result.text, plan.intake);
  if (!right) {
    end.error = CallError{right.error().for_caller, 0, false};
    return;
  }
  const auto document = json::Document::parse_view(result.text);
  auto update = document ? plan.dialect->read_update(document->root()) : base::fail(document.error());
  if (!update) {
    end.error = CallError{"the server's answer is invalid: " + update.error().for_caller, 0, false};
    return;
  }
  end.error.reset();
  end.state = task::State::completed;
  if (const auto* task = std::get_if<task::Task>(&*update)) {
    end.state = task->status.state;
    end.task = task->id;
  }
  // A small task of 0.1 has the same form as a status event.
  if (const auto* status = std::get_if<protocol::a2a::StatusUpdate>(&*update))
    end.state = status->status.state;
  world.on_event(result.text, std::move(*update));
}

}  // namespace

FollowEnd follow(const FollowPlan& plan, const FollowWorld& world) {
  return Following(plan, world).run();
}

FollowEnd send_plain(const FollowPlan& plan, const FollowWorld& world) {
  FollowEnd end;
  end.task = plan.task;
  std::optional<std::chrono::steady_clock::time_point> silent_since;
  for (milliseconds delay = kDelayFirst;; delay = std::min(delay * 2, kDelayMax)) {
    const auto result = world.send(*plan.first_request);
    end.stopped = world.wait(milliseconds(0));
    if (end.stopped) return end;
    if (result) {
      take_answer(plan, world, *result, end);
      return end;
    }
    if (!silent_since) silent_since = world.now();
    end.error = result.error();
    const bool patient = world.now() - *silent_since + delay < plan.give_up_after;
    if (!result.error().lost || plan.dialect->names_tasks() || !patient) return end;
    if (plan.sends_once && !result.error().unsent) {
      end.unknown = true;
      end.error->text += kNotKnown;
      return end;
    }
    if (world.on_trouble && delay == kDelayFirst) world.on_trouble(result.error().text);
    end.stopped = world.wait(std::max(delay, end.error->retry_after));
    if (end.stopped) return end;
  }
}

}  // namespace baton::client
