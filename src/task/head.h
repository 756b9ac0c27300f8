// TaskHead: the facts that decisions about a task are based on. They follow from the task's log and turns. A
// store keeps them next to the log so that a decision need not read the log.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "task/budget.h"
#include "task/ids.h"
#include "task/state.h"
#include "task/task.h"

namespace baton::task {

// none: no turn is needed. queued: the next turn waits for a slot. running: the turn has begun. waiting: the
// turn begins (again) when its wait is over (Waits), and occupies no slot until then.
enum class TurnState { none, queued, running, waiting };

// The conditions for a waiting turn to continue. One of them is enough.
struct Waits {
  int open_max = 0;         // at most this many of its children are still awaited; negative: never
  bool on_failure = false;  // a child has failed since the waiting turn began
  std::optional<base::Timestamp> until = {};  // this time has been reached

  friend bool operator==(const Waits&, const Waits&) = default;
};

struct TaskHead {
  TaskKey key;
  TaskId id;
  AgentName agent;
  Caller caller;
  ContextKey context_key;
  ContextId context;
  TaskKey parent;         // the task that delegated this one, or none
  bool detached = false;  // continues after the parent has ended
  Version version;
  ProtocolVersion origin = ProtocolVersion::v1_0;  // of the client that created the task
  base::Timestamp created{};
  State state = State::submitted;
  base::Timestamp status_at{};
  EventNumber status_event;  // the last StatusChanged, or 0
  EventNumber last_event;
  TurnNumber turn;  // the last turn, whether it has begun or not
  TurnState turn_state = TurnState::none;
  int attempt = 0;           // of that turn
  EventNumber turn_message;  // the event with the message that the turn handles
  int waiting_messages = 0;  // user messages not yet given to a turn
  // The last event before the turn's own output. Events up to this one stay valid if the turn is aborted.
  EventNumber turn_begin;
  int awaited = 0;            // children that the turn has delegated to and that have not stopped
  Waits waits;                // of a waiting turn
  bool child_failed = false;  // a child has failed since the running or waiting turn began
  bool cancel_requested = false;
  std::string ask;  // the id of the question that the task waits on, or empty
  int artifact_count = 0;
  int message_count = 0;  // of its history
  std::size_t bytes = 0;  // of its log, as stored
  // The tokens reported by the task and by the ends of its children, and the tasks below it; each counted
  // once.
  std::int64_t tokens = 0;
  std::int64_t children = 0;
  std::shared_ptr<const Budget> budget;  // null: unlimited
  bool hidden = false;                   // callers get only a message as the answer, no task
};

}  // namespace baton::task
