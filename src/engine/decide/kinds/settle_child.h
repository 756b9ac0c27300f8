// SettleChild: logs how a child that its parent awaits has stopped, and queues the parent's turn if that ends
// the wait. Pure.
#pragma once

#include "base/clock.h"
#include "engine/decide/rules/basics.h"
#include "engine/decide/rules/child_questions.h"

namespace baton::engine {

struct SettleChild {
  task::TaskKey task;         // the parent
  task::EventNumber message;  // the message that the parent worked on when it asked for the child
  task::Subagent child;       // how the child has stopped
  store::NodeId self;         // unset if the store is not shared
  const ChildQuestions& questions;
  const base::Clock& clock;

  // Refuses with not_found if the parent no longer waits for this, or another node has its turn; with
  // conflict if it does not wait yet: its turn takes no more output, but the turn's end is not stored.
  base::Result<task::Change> decide(const store::TaskRow& now) const {
    using base::ErrorCode;
    const task::TaskHead& head = now.head;
    if (!is_ours(now, self)) return base::fail(ErrorCode::not_found, "another node is waiting for this");
    if (head.turn_state == task::TurnState::running && head.turn_message == message)
      return base::fail(ErrorCode::conflict, "the task is not waiting yet");
    if (head.turn_state == task::TurnState::none || head.turn_message != message || head.awaited == 0)
      return base::fail(ErrorCode::not_found, "the task is not waiting for this");
    task::Change change = change_of(head);
    change.events.push_back(child);
    change.turn.emplace();
    turn_over(change, questions.turnover(head), clock.now());
    return change;
  }
};

}  // namespace baton::engine
