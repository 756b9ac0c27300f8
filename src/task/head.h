// TaskHead: the facts on which decisions about a task are based. They follow from the task's log and turns; a
// store keeps them beside the log so that a decision needs no fold.
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

// none: no turn is wanted. queued: the next turn waits for a slot. running: it has begun. waiting: it begins
// (again) when what it waits for has come (Waits), and holds nothing until then.
enum class TurnState { none, queued, running, waiting };

// When a turn that waits goes on: as soon as one of these holds.
struct Waits {
  int open_max = 0;         // at most so many of its children are still awaited; negative: never
  bool on_failure = false;  // a child has failed since the turn that waits began
  std::optional<base::Timestamp> until = {};  // this time has come

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
  bool detached = false;  // goes on when the parent has ended
  Version version;
  ProtocolVersion origin = ProtocolVersion::v1_0;  // of the client that made it
  State state = State::submitted;
  base::Timestamp status_at{};
  EventNumber status_event;  // the last StatusChanged, or 0
  EventNumber last_event;
  TurnNumber turn;  // the last turn that began or is to begin
  TurnState turn_state = TurnState::none;
  int attempt = 0;           // of that turn
  EventNumber turn_message;  // the event with the message that turn is about
  int waiting_messages = 0;  // user messages not yet given to a turn
  // The last event before the turn's own output. What came earlier stands if the turn is broken off.
  EventNumber turn_begin;
  int awaited = 0;            // children that the turn has delegated to and that have not stopped
  Waits waits;                // of a turn that waits
  bool child_failed = false;  // since the turn began that runs, or that waits
  bool cancel_requested = false;
  std::string ask;  // the ask the task waits on, or empty
  int artifact_count = 0;
  int message_count = 0;  // of its history
  std::size_t bytes = 0;  // of its log, as it is stored
  // What the task and its children's ends say was used, and the tasks below it; each counted once.
  std::int64_t tokens = 0;
  std::int64_t children = 0;
  std::shared_ptr<const Budget> budget;  // null: none
  bool hidden = false;                   // callers see no task, only a message as the answer
};

}  // namespace baton::task
