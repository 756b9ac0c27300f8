// TurnRunner and the children of turns: what they ask.
#include "engine/turn_runner.h"

namespace baton::engine {

void TurnRunner::ask(task::TaskKey task, const task::TaskHead* now) {
  if (const auto run = running_turn(task)) return run->questions_changed(now);
  Decision decision;
  decision.task = task;
  decision.decide = [this](const store::TaskRow& row) -> base::Result<task::Change> {
    const task::TaskHead& head = row.head;
    const ChildQuestions::Turnover turnover = questions_.turnover(head);
    if (!turnover) return base::fail(base::ErrorCode::not_found, "no other question is to be shown");
    if (head.turn_state == task::TurnState::running) {
      return base::fail(base::ErrorCode::conflict, "its turn shows the question");
    }
    task::Change change;
    change.task = head.key;
    change.expected = head.version;
    turn_over(change, turnover, clock_.now());
    return change;
  };
  decision.done = [this, task](const base::Result<Written>& written) {
    if (written || written.error().code == base::ErrorCode::not_found ||
        written.error().code == base::ErrorCode::task_not_found) {
      return;
    }
    background_.timers().after(options_.disk_retry, [this, task] { ask(task); });
  };
  inbox_.post(std::move(decision));
}

void TurnRunner::answered(const task::TaskHead& parent, const ChildQuestion& question, task::Message answer) {
  ask(parent.key, &parent);
  children_.pass_on(parent, question, std::move(answer));
}

}  // namespace baton::engine
