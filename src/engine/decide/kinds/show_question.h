// ShowQuestion: makes a task whose turn waits show the next question of its children, or none. Pure.
#pragma once

#include "base/clock.h"
#include "engine/decide/rules/basics.h"
#include "engine/decide/rules/child_questions.h"

namespace baton::engine {

struct ShowQuestion {
  task::TaskKey task;
  store::NodeId self;  // unset if the store is not shared
  const ChildQuestions& questions;
  const base::Clock& clock;

  // Refuses with not_found if the task already shows the right question, or another node has its turn: only
  // that node knows all questions. Refuses with conflict if a turn of the task runs, which shows the question
  // itself.
  base::Result<task::Change> decide(const store::TaskRow& now) const {
    using base::ErrorCode;
    if (!is_ours(now, self)) return base::fail(ErrorCode::not_found, "another node asks the question");
    const ChildQuestions::Turnover turnover = questions.turnover(now.head);
    if (!turnover) return base::fail(ErrorCode::not_found, "there is no other question to show");
    if (now.head.turn_state == task::TurnState::running)
      return base::fail(ErrorCode::conflict, "its turn shows the question");
    task::Change change = change_of(now.head);
    turn_over(change, turnover, clock.now());
    return change;
  }
};

}  // namespace baton::engine
