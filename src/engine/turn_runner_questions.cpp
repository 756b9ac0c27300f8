// TurnRunner and the children of turns: what they ask.
#include "engine/turn_runner.h"

namespace baton::engine {

void TurnRunner::ask(task::TaskKey task, const task::TaskHead* now) {
  if (const auto run = running_turn(task)) return run->questions_changed(now);
  Decision decision;
  decision.task = task;
  decision.decide = [this](const store::TaskRow& row) -> base::Result<task::Change> {
    const task::TaskHead& head = row.head;
    // Only the node that has the turn knows all questions.
    if (!is_ours(row)) return base::fail(base::ErrorCode::not_found, "another node asks");
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

// The question that the turn's message answers: the status before that of its submission.
base::Result<std::string> TurnRunner::answered_ask(const task::TaskHead& head) const {
  if (head.turn_message.value < 3) return std::string();
  auto events = reader_.committed_events(head.key, {head.turn_message.value - 3}, 2);
  if (!events) return base::fail(events.error());
  if (events->size() < 2) return std::string();
  task::Event before = std::move(events->front());
  // What operators have done since it was asked.
  while (std::holds_alternative<task::Intervention>(before.body) && before.number.value > 1) {
    auto earlier = reader_.committed_events(head.key, {before.number.value - 2}, 1);
    if (!earlier) return base::fail(earlier.error());
    if (earlier->empty()) return std::string();
    before = std::move(earlier->front());
  }
  const task::StatusChanged* asked = task::status_in(before);
  const task::StatusChanged* submitted = task::status_in(events->back());
  const bool answers = asked && submitted && task::is_waiting(asked->status.state) &&
                       submitted->status.state == task::State::submitted;
  return answers ? asked->ask : std::string();
}

}  // namespace baton::engine
