// How an executor's outcome becomes the last change of its turn. Pure decisions, no I/O.
#pragma once

#include <optional>
#include <vector>

#include "agents/cards/catalogue.h"
#include "agents/executor.h"
#include "base/clock.h"
#include "store/task_store.h"

namespace baton::engine {

// The inputs of the ending besides the outcome.
struct TurnEnding {
  bool cancel_requested = false;
  std::string cancel_reason;  // the text of the canceled status; empty: no text
  // The next message that waits for this turn to end, and how many wait, including it.
  std::optional<task::EventNumber> next_message;
  int waiting_messages = 0;
  std::vector<task::ArtifactId> shown;  // the replies and artifacts that the turn began
  // The streamed reply, for the message of a turn that completes or asks.
  std::vector<task::Part> reply;
  base::Timestamp now{};
};

// Whether the task may run a plan that undoes its steps when canceled. A plan that has begun keeps its text,
// so a task that is older than the agent's card may have steps to undo although the card's plan has none.
bool may_undo_steps(const agents::Agent& agent, const task::TaskHead& head);
// Whether a canceled task that waits has one more turn of this agent (Turn::canceled), to undo its work or to
// end it on another server.
bool has_turn_on_cancel(const agents::Agent& agent, const task::TaskHead& head);
// Returns true if a canceled task, which has not ended, undoes its work, or ends it on another server, before
// it ends. Its turns then continue (Turn::canceled) until one of them ends the task.
bool undoes_first(const agents::Agent* agent, const task::TaskHead& head);
// Makes `change` the cancel of a task that undoes its work, while no turn of it runs.
void begin_undoing(task::Change& change, const task::TaskHead& head, base::Timestamp now);

// Returns true if the work of the task and of its children continues without a new message.
bool runs_on(const agents::Outcome& outcome);

// Makes the turn run again as the same attempt, as if it had not begun, once no child is awaited. `shown` is
// withdrawn. `counts`: it runs as another attempt.
void run_again(task::Change& change, const task::TaskHead& head, std::vector<task::ArtifactId> shown,
               bool counts = false);

// Adds to `change` the events and the turn update that end a turn of `head`.
void add_ending(task::Change& change, const task::TaskHead& head, const agents::Outcome& outcome,
                const TurnEnding& ending);

// A status with `text` as the agent's message; without a message if `text` is empty.
task::StatusChanged status_with_text(task::State state, const std::string& text, base::Timestamp now);

}  // namespace baton::engine
