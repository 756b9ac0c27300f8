// Delegation: what children ask, and the answers.
#include <spdlog/spdlog.h>

#include <algorithm>

#include "engine/delegation.h"
#include "engine/send_digest.h"

namespace baton::engine {
// The child asks. Its question waits for the parent's caller until the child has another status.
void Delegation::relay(const DelegatedPtr& delegated, const task::TaskHead& child) {
  const task::EventNumber number = child.status_event;
  auto task = service_.read(child.key, task::Depth{0, false}, number);
  if (!task) return try_again(task.error(), [this, delegated] { follow(delegated); });
  // Whoever holds a subscription must not be held by it.
  delegated->news = service_.subscribe(child.key, [this, weak = std::weak_ptr(delegated)] {
    background_.run([this, weak] {
      if (const auto alive = weak.lock()) look(alive);
    });
  });
  asking_.with([&](auto& asking) { asking.insert(delegated); });
  const std::string ask = ask_of(delegated->subagent.id, number);
  turns_.questions().forget(delegated->parent, delegated->subagent.id, number);
  turns_.questions().add(delegated->parent, {ask, child.key, child.id, child.agent, number,
                                             delegated->message, std::move(task->status)});
  delegated->question = number.value;
  turns_.ask(delegated->parent);
  look(delegated);
  // Who has canceled the task is not asked any more (Cancels looks for the questions that came before).
  const auto parent = service_.find(delegated->parent);
  if (parent && parent->cancel_requested) cancel(child.key);
}

// Whether the child still waits with its question. Several threads may look at once, and one may have found
// the child as it was before it asked this.
void Delegation::look(const DelegatedPtr& delegated) {
  std::int64_t number = delegated->question;
  if (number == 0) return;
  const auto child = service_.find(delegated->subagent.task);
  const bool is_there = child || !is_gone(child.error());
  if (!child && is_there) return try_again(child.error(), [this, delegated] { look(delegated); });
  const bool asks = is_there && child->status_event.value <= number;
  if (asks || !delegated->question.compare_exchange_strong(number, 0)) return;
  question_over(delegated, {number});
}

void Delegation::question_over(const DelegatedPtr& delegated, task::EventNumber question) {
  asking_.with([&](auto& asking) { asking.erase(delegated); });
  delegated->news = {};
  forget_questions(*delegated, question);
  delegated->subagent.after = question;
  follow_on(delegated);
}

// What the child has asked until then.
void Delegation::forget_questions(const Delegated& delegated, task::EventNumber last) {
  if (turns_.questions().forget(delegated.parent, delegated.subagent.id, {last.value + 1}))
    turns_.ask(delegated.parent);
}

void Delegation::pass_on(const task::TaskHead& parent, const ChildQuestion& question, task::Message answer) {
  background_.run(
      [this, parent, question, answer = std::move(answer)] { submit_answer(parent, question, answer); });
}

// Repeated, it is the same send; and the child takes an answer only as long as it asks this question.
void Delegation::submit_answer(const task::TaskHead& parent, const ChildQuestion& question,
                               const task::Message& answer) {
  using base::ErrorCode;
  task::Submission submission;
  submission.caller = parent.caller;
  submission.agent = question.agent;
  submission.task = question.child_id;
  submission.message = answer;
  submission.trace = question.trace;
  submission.waits_for = task::WaitsFor::outcome;
  TaskService::ForChild terms{parent.key};
  terms.question = question.number;
  auto done = [this, parent, question, answer](const base::Result<Accepted>& accepted) {
    if (accepted) return;
    const base::Error& error = accepted.error();
    const bool is_over = error.code == ErrorCode::conflict || error.code == ErrorCode::unsupported ||
                         error.code == ErrorCode::task_not_found;
    if (is_over) return;
    if (base::may_pass(error)) {
      background_.timers().after(options_.disk_retry,
                                 [this, parent, question, answer] { pass_on(parent, question, answer); });
      return;
    }
    spdlog::warn("an answer cannot be passed on: {}", error.for_caller);
    service_.cancel_child(question.child,
                          "The answer to its question could not be passed on: " + error.for_caller);
  };
  service_.submit_child(terms, std::move(submission), digest_of_answer(parent, question.ask),
                        std::move(done));
}

// After a restart: the question that the parent shows stays, and an answer that the child has not got is
// passed on.
base::Result<void> Delegation::resume_question(const task::TaskHead& parent, const task::Subagent& subagent,
                                               const std::vector<PassedAnswer>& passed) {
  const AskParts shown = task::is_waiting(parent.state) ? parts_of_ask(parent.ask) : AskParts();
  const auto answered = std::ranges::find(passed, subagent.id, &PassedAnswer::subagent);
  const bool is_shown = shown.subagent == subagent.id;
  if (!is_shown && answered == passed.end()) return {};
  const auto child = reader_.head(subagent.task);
  if (!child) return base::fail(child.error());
  // It may have to be shown again: an answer to it may be refused while another one is shown.
  const auto asks = reader_.read_committed(child->key, task::Depth{0, false});
  if (!asks) return base::fail(asks.error());
  ChildQuestion question{{}, child->key, child->id, child->agent, {}, parent.turn_message, asks->status};
  question.number = is_shown ? shown.number : answered->question;
  question.ask = ask_of(subagent.id, question.number);
  question.answered = !is_shown;
  if (!is_shown && child->status_event != question.number) return {};
  turns_.questions().add(parent.key, question);
  return is_shown ? base::Result<void>() : pass_on(parent, std::move(question), *answered);
}

base::Result<void> Delegation::pass_on(const task::TaskHead& parent, ChildQuestion question,
                                       const PassedAnswer& passed) {
  const auto input = reader_.turn_input(parent.key, passed.number);
  if (!input) return base::fail(input.error());
  question.trace = input->request.trace;
  pass_on(parent, question, passed.answer);
  return {};
}

void Delegation::pass_on_logged(task::TaskKey parent, const ChildQuestion& question) {
  background_.run([this, parent, question] {
    const auto passed = read_and_pass_on(parent, question);
    if (passed || is_gone(passed.error())) return turns_.ask(parent);
    try_again(passed.error(), [this, parent, question] { pass_on_logged(parent, question); });
  });
}

base::Result<void> Delegation::read_and_pass_on(task::TaskKey parent, const ChildQuestion& question) {
  const auto head = reader_.head(parent);
  if (!head) return base::fail(head.error());
  const auto log = log_of(*head);
  if (!log) return base::fail(log.error());
  for (const PassedAnswer& one : log->passed) {
    if (ask_of(one.subagent, one.question) == question.ask) return pass_on(*head, question, one);
  }
  return {};  // the task works on something else by now
}

base::Result<void> Delegation::learn_question(task::TaskKey parent) {
  const auto head = reader_.head(parent);
  if (!head) return base::fail(head.error());
  const auto log = log_of(*head);
  if (!log) return base::fail(log.error());
  for (const task::Subagent& child : log->subagents.awaited()) {
    const bool asks = task::is_waiting(head->state) && parts_of_ask(head->ask).subagent == child.id;
    if (asks) return resume_question(*head, child, {});
  }
  return {};
}

}  // namespace baton::engine
