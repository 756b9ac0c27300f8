#include "engine/decide/kinds/cancel_request.h"

#include "engine/decide/rules/interventions.h"
#include "engine/decide/rules/turn_ending.h"

namespace baton::engine {

using base::ErrorCode;
using base::fail;

base::Result<task::Change> CancelRequest::decide(const store::TaskRow& now) {
  const task::TaskHead& head = now.head;
  if (task::is_terminal(head.state)) return fail(ErrorCode::not_cancelable, "the task has ended");
  const bool running = head.turn_state == task::TurnState::running;
  // Only the agent's card says whether the task undoes first. A running turn has something to undo only if
  // the task has children.
  const bool may_undo = running ? head.children > 0 : head.turn.value > 1 || head.attempt > 0;
  const agents::Agent* const agent = catalogue.find(head.agent);
  if (may_undo && agent == nullptr && catalogue.on_other_node(head.agent) != nullptr)
    return fail(ErrorCode::unavailable, "another node serves the task's agent; try again");
  undoes = undoes_first(agent, head);
  is_known = head.cancel_requested && (running || undoes);
  since = head.last_event;
  if (is_known) return fail(ErrorCode::conflict, "the task is being canceled");
  ask = head.ask;
  is_elsewhere = !is_ours(now, self);
  had_turn = head.turn_state != task::TurnState::none && !running;
  wakes = undoes && (head.turn_state == task::TurnState::waiting || head.turn_state == task::TurnState::none);
  task::Change change = change_of(head);
  if (audit) note_intervention(change, *audit);
  if (undoes && !running) {
    begin_undoing(change, head, clock.now());
    return change;
  }
  change.turn.emplace().cancel_requested = true;
  if (running) return change;
  change.turn->state = task::TurnState::none;
  change.turn->waiting_messages = 0;
  change.events.push_back(status_with_text(task::State::canceled, reason, clock.now()));
  return change;
}

}  // namespace baton::engine
