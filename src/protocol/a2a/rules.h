// Rules: what differs between the versions of A2A besides their form (README.md, 1): who names a task, what a
// stream begins and ends with, which requests are refused. A value; threads: any.
#pragma once

#include "base/error.h"
#include "task/state.h"
#include "task/task.h"

namespace baton::protocol::a2a {

inline constexpr task::VersionRange kV01{task::ProtocolVersion::v0_1, task::ProtocolVersion::v0_1};
inline constexpr task::VersionRange kV02ToV03{task::ProtocolVersion::v0_2, task::ProtocolVersion::v0_3};
inline constexpr task::VersionRange kBeforeV1{task::ProtocolVersion::v0_1, task::ProtocolVersion::v0_3};
inline constexpr task::VersionRange kV10{task::ProtocolVersion::v1_0, task::ProtocolVersion::v1_0};

class Rules {
 public:
  // `spoken`: the versions that a request may be in, one of the ranges above. Several have the same rules, or
  // cannot be told apart (README.md, 9).
  constexpr explicit Rules(task::VersionRange spoken) : spoken_(spoken) {}

  task::VersionRange versions() const { return spoken_; }
  bool is_v1() const { return spoken_.first == task::ProtocolVersion::v1_0; }

  // Whether a send may be answered by a message alone (task::Task::hidden).
  bool has_messages() const { return !is_v0_1(); }
  // Whether a stream opened by a send begins with the Task. A subscription's stream always does.
  bool stream_begins_with_task() const { return !is_v0_1(); }
  // Whether a stream opened by a send ends when the task reaches this state.
  bool stream_ends_at(task::State state) const {
    if (is_v0_1()) return task::is_stopped(state);
    return task::is_terminal(state) || state == task::State::input_required;
  }
  // Whether a refused stream is answered with an error event over JSON-RPC if the request prefers an event
  // stream: the clients give up on a plain error.
  bool refuses_in_stream() const { return !is_v0_1() && !is_v1(); }
  // Whether a request about a task that a client of `origin` made is treated as one of the tasks era (0.1):
  // it gets history and numbers only if it asks for them.
  bool is_of_tasks_era(task::ProtocolVersion origin) const {
    return is_v0_1() || (spoken_.first == task::ProtocolVersion::v0_1 && origin == spoken_.first);
  }
  // The error for a send to a task that has ended and may not be reopened (README.md, 5 and 6).
  base::ErrorCode refusal_when_ended() const {
    return is_v1() ? base::ErrorCode::unsupported : base::ErrorCode::invalid_argument;
  }
  // Whether a subscription to a task that has ended is answered with the Task. Otherwise it fails with
  // unsupported.
  bool subscribes_to_ended() const { return !is_v1(); }
  // Whether canceling a canceled task succeeds.
  bool cancels_twice() const { return is_v1(); }

 private:
  bool is_v0_1() const { return spoken_.last == task::ProtocolVersion::v0_1; }

  task::VersionRange spoken_;
};

}  // namespace baton::protocol::a2a
