#include "engine/delegate/delegation.h"
#include "base/text.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "engine/sends/send_digest.h"
#include "engine/turns/other_tasks.h"
#include "engine/turns/shown_question.h"
#include "engine/turns/turn_span.h"

namespace baton::engine {
namespace {

using Phase = task::Subagent::Phase;

// The subagent event that the parent's log gets once the child has this status.
task::Subagent after(const task::Subagent& child, const task::Status& status, const task::TaskHead& head) {
  task::Subagent event{child.id, child.name, Phase::asks, {}};
  if (!task::is_terminal(status.state)) return event;
  event.tokens = head.tokens;
  event.children = head.children;
  event.error = failure_of(status);
  event.phase = event.error.empty() ? Phase::finished : Phase::failed;
  return event;
}

}  // namespace

Delegation::Delegation(const TaskReader& reader, LiveTasks& live, TaskService& tasks, Cancels& cancels,
                       TurnRunner& turns, Inbox& inbox, Background& background, const EngineOptions& options,
                       base::SpanQueue* spans)
    : reader_(reader),
      live_(live),
      tasks_(tasks),
      cancels_(cancels),
      turns_(turns),
      background_(background),
      options_(options),
      spans_(spans),
      replies_(reader, live, turns, inbox, background, options) {
  turns.listen(
      [this](ChildEffect effect) { std::visit([this](auto& one) { handle(std::move(one)); }, effect); });
}

void Delegation::handle(ChildWanted wanted) {
  // The turn now waits for its children, which may be suspects too.
  if (turns_.quarantine().has_suspects()) turns_.clear_suspicion(wanted.run->head().key);
  background_.run([this, wanted = std::move(wanted)]() mutable {
    start(std::move(wanted.run), std::move(wanted.request), wanted.nth);
  });
}

void Delegation::handle(ChildUnneeded unneeded) {
  replies_.end(unneeded.child);
  background_.run([this, child = unneeded.child] { cancels_.cancel_child(child); });
}

void Delegation::handle(TurnOver over) {
  if (!task::is_terminal(over.head.state)) return;
  resumed_.with([&](auto& resumed) { resumed.erase(over.head.key); });
  replies_.end_all_of(over.head.key);
  cancels_.cancel_children(over.head.key);
}

void Delegation::handle(TurnTakenOver taken) {
  background_.run([this, head = std::move(taken.head)] {
    if (auto resumed = resume(head)) return turns_.schedule(head);
    background_.again([this, head] { handle(TurnTakenOver{head}); });
  });
}

void Delegation::handle(QuestionAnswered answered) {
  background_.run([this, answered = std::move(answered)] {
    submit_answer(answered.parent, answered.question, answered.answer);
  });
}

// Returns why the tasks above this one, by their number or their budgets, forbid it a child; empty if they do
// not. The turn itself heeds the task's own budget.
std::string Delegation::refusal(const task::TaskHead& head, bool is_bounded) const {
  task::TaskKey parent = head.parent;
  for (int depth = 1; parent; ++depth) {
    if (depth >= options_.delegation_depth_max) {
      return "delegation may be at most " + base::counted(options_.delegation_depth_max, "level") +
             " deep (max_depth)";
    }
    const auto next = reader_.head(parent);
    if (!next) return {};
    parent = next->parent;
    if (!is_bounded) continue;
    task::Budget budget = next->budget ? *next->budget : task::Budget();
    if (!budget.children) budget.children = options_.delegation_children_max;
    budget.depth.reset();  // what is left of that is in the budgets below
    std::string why = task::refusal_of_child(budget, {next->tokens, next->children});
    if (!why.empty()) return why;
  }
  return {};
}

// A detached task also counts as below the task that began it.
bool Delegation::is_below(const task::TaskHead& parent, const task::TaskRef& other) const {
  auto head = reader_.head(other);
  for (int depth = 0; head && depth <= options_.delegation_depth_max; ++depth) {
    if (head->parent == parent.key) return true;
    if (!head->parent) return false;
    head = reader_.head(head->parent);
  }
  return false;
}

// Removes the message's references to tasks that the turn may not reach. `named`: the references of the
// turn's own message, which it may reach. Returns why the submission's task may not be reached; empty if it
// may.
std::string Delegation::keep_to_own_tasks(const task::TaskHead& parent,
                                          const std::vector<task::TaskId>& named,
                                          task::Submission& submission) const {
  const auto ref = [&](const task::TaskId& id) { return task::TaskRef{parent.caller, submission.agent, id}; };
  if (!submission.task.empty() && !is_below(parent, ref(submission.task)))
    return "task not found: agent \"" + submission.agent.value + "\" has no such task below this one";
  std::erase_if(submission.message.reference_tasks, [&](const task::TaskId& id) {
    return std::ranges::find(named, id) == named.end() && !is_below(parent, ref(id));
  });
  return {};
}

void Delegation::start(std::shared_ptr<RunningTurn> run, agents::DelegateRequest request, int nth) {
  const task::TaskHead head = run->head();
  const bool is_new = run->asks_anew(request, nth);
  const bool is_bounded = is_new && !request.budget;
  std::string why = refusal(head, is_bounded);
  if (why.empty() && head.budget) why = task::refusal_of_agent(*head.budget, request.agent);
  if (!why.empty()) {
    return run->no_child(request.agent, request.id, why, is_new);
  }
  task::Submission submission;
  submission.caller = head.caller;
  submission.agent = task::AgentName{request.agent};
  submission.task = request.task;
  submission.message = std::move(request.message);
  RunningTurn::Lineage lineage = run->lineage();
  why = keep_to_own_tasks(head, lineage.references, submission);
  if (!why.empty()) return run->no_child(request.agent, request.id, why, is_new);
  const auto delegated = std::make_shared<Delegated>();
  delegated->run = std::move(run);
  delegated->parent = head.key;
  delegated->times = times_resumed(head.key);
  delegated->message = head.turn_message;
  delegated->goes_on = !request.task.empty();
  delegated->is_new = is_new;
  delegated->subagent.name = request.label.empty() ? request.agent : request.label;
  delegated->subagent.call = std::move(request.id);
  delegated->subagent.asks_agent = request.takes_questions || delegated->goes_on;
  delegated->subagent.is_detached = request.detached;
  delegated->subagent.shows_replies = request.shows_replies;
  submission.hops = std::move(lineage.hops);
  submission.subject = turns_.subjects().find(head);
  const auto timer = std::make_shared<base::SpanTimer>(spans_, std::move(lineage.trace));
  submission.trace = timer->trace();
  if (head.budget && head.budget->agents)
    submission.child_agents = std::make_shared<const std::vector<std::string>>(*head.budget->agents);
  if (!delegated->goes_on) submission.budget = delegated->run->budget_of(request);
  submission.waits_for = task::WaitsFor::outcome;
  const auto digest = digest_of_call(head, delegated->subagent.call, nth, submission);
  tasks_.submit_child(
      {head.key, request.detached}, std::move(submission), digest,
      [this, delegated, timer, agent = request.agent](base::Result<Accepted> accepted) {
        add_child_span(*timer, agent, accepted ? accepted->id : task::TaskId(), accepted ? "" : "refused");
        if (accepted) return stored(delegated, *accepted);
        const task::Subagent& none = delegated->subagent;
        delegated->run->no_child(none.name, none.call, accepted.error().for_caller, delegated->is_new);
      });
}

void Delegation::stored(const DelegatedPtr& delegated, const Accepted& child) {
  RunningTurn& run = *delegated->run;
  // The parent's turn may have ended before the child was stored. If it runs again, it asks for the child
  // again.
  if (run.is_over()) {
    if (delegated->subagent.is_detached) return;
    const task::TaskHead head = run.head();
    const bool again = head.turn_state != task::TurnState::none && head.turn_message == delegated->message;
    return again ? void() : handle(ChildUnneeded{child.key});
  }
  task::Subagent& subagent = delegated->subagent;
  subagent.task = child.key;
  subagent.after = child.before;
  subagent.id = run.open_subagent(child.key);
  if (!subagent.id.empty()) {
    subagent.phase = Phase::answered;
  } else {
    subagent.id = child.id.value;
    // The subagent of an earlier turn was closed with that turn: this one needs a new id.
    if (delegated->goes_on) subagent.id += "-" + std::to_string(run.head().turn.value);
  }
  const RunningTurn::Begun begun = run.begun(subagent);
  // The turn is ending. If it runs again, it asks for the child again. Following the child twice would count
  // it twice.
  if (begun == RunningTurn::Begun::too_late) return;
  delegated->is_known = begun == RunningTurn::Begun::known;
  if (subagent.is_detached) {
    background_.run([this, delegated] { hand_over(delegated); });
  } else {
    if (subagent.shows_replies) replies_.begin(run.head(), delegated->message, subagent.task);
    follow(delegated);
  }
}

void Delegation::follow(const DelegatedPtr& delegated) {
  const task::Subagent& child = delegated->subagent;
  // A day is practically unbounded. The limit only drops waits whose task is gone.
  reader_.await_stop(child.task, child.after, std::chrono::hours(24),
                     [this, delegated](const std::optional<Stop>& stop) {
                       background_.run([this, delegated, stop] {
                         stop ? child_stopped(delegated, stop->number) : follow_on(delegated);
                       });
                     });
}

// Follows the child again: after a wait that ended without a stop, because its time was up or the child is
// gone, or after a question.
void Delegation::follow_on(const DelegatedPtr& delegated) {
  const auto child = reader_.head(delegated->subagent.task);
  const bool is_gone_now = !child && is_gone(child.error());
  if (is_gone_now) replies_.end(delegated->subagent.task);
  if (!is_gone_now && !is_out_of_date(*delegated)) follow(delegated);
}

int Delegation::times_resumed(task::TaskKey parent) const {
  return resumed_.with([&](const auto& resumed) {
    const auto found = resumed.find(parent);
    return found == resumed.end() ? 0 : found->second;
  });
}

// On a shared store, a task's turn may leave this node and come back. Delegations from before then must not
// report the children's results, because newer ones do.
bool Delegation::is_out_of_date(const Delegated& delegated) const {
  const bool was_taken = delegated.run != nullptr && delegated.run->is_abandoned();
  return was_taken || delegated.times != times_resumed(delegated.parent);
}

void Delegation::try_again(const base::Error& error, std::function<void()> what) {
  spdlog::warn("cannot read a child task; retrying: {}", error.for_log);
  background_.again([this, what = std::move(what)] { background_.run(what); });
}

void Delegation::hand_over(const DelegatedPtr& delegated) {
  auto task = reader_.read(delegated->subagent.task, task::Depth{0, false});
  if (!task) return try_again(task.error(), [this, delegated] { hand_over(delegated); });
  delegated->run->deliver(result_of(delegated->subagent.call, std::move(*task)));
}

// Handles the child's stop, which is event `stop`.
void Delegation::child_stopped(const DelegatedPtr& delegated, task::EventNumber stop) {
  task::Subagent& child = delegated->subagent;
  if (is_out_of_date(*delegated)) return;
  const auto again = [this, delegated, stop] { child_stopped(delegated, stop); };
  if (!child.asks_agent) {
    const auto head = reader_.head(child.task);
    if (!head) return is_gone(head.error()) ? void() : try_again(head.error(), again);
    if (task::is_waiting(head->state) && !child.shows_replies) return relay(delegated, *head);
    // The parent's log gets the child's words before the question that follows them.
    if (task::is_waiting(head->state))
      return replies_.catch_up(child.task, [this, delegated, head = *head] {
        background_.run([this, delegated, head] { relay(delegated, head); });
      });
    forget_questions(*delegated, stop);
    // The child asked, and somebody has answered.
    if (!task::is_terminal(head->state)) {
      child.after = stop;
      return follow(delegated);
    }
  }
  if (child.shows_replies) replies_.end(child.task);
  RunningTurn* const run = delegated->run.get();
  const bool is_told = run != nullptr && !run->is_over();
  auto task = reader_.read(child.task, is_told ? task::Depth{std::nullopt, true} : task::Depth{0, false});
  if (!task) return is_gone(task.error()) ? void() : try_again(task.error(), again);
  const auto head = reader_.head(child.task);
  if (!head) return try_again(head.error(), again);
  const task::Subagent event = after(child, task->status, *head);
  // Logged first, so that the turn's reaction follows it in the log.
  const bool logged = delegated->is_known || (run != nullptr && run->log_stop(event));
  if (!logged) return turns_.log_stop(delegated->parent, delegated->message, event);
  agents::DelegateResult result = result_of(child.call, std::move(*task));
  // If the log had the child's stop when the turn began, the turn has already counted its usage.
  if (!delegated->is_known) {
    result.tokens = event.tokens;
    result.children = event.children;
  }
  run->deliver(std::move(result));
}

base::Result<void> Delegation::resume(const task::TaskHead& waiting) {
  const auto log = read_turn_log(reader_, waiting);
  if (!log) return base::fail(log.error());
  const int times = resumed_.with([&](auto& resumed) { return ++resumed[waiting.key]; });
  for (task::Subagent& child : log->subagents.awaited()) {
    if (auto question = resume_question(waiting, child, log->passed); !question) return question;
    const auto delegated = std::make_shared<Delegated>();
    delegated->parent = waiting.key;
    delegated->message = waiting.turn_message;
    delegated->times = times;
    delegated->subagent = std::move(child);
    if (delegated->subagent.shows_replies)
      replies_.begin(waiting, waiting.turn_message, delegated->subagent.task);
    follow(delegated);
  }
  return {};
}

// Questions that children ask, and the answers to them.

// Makes the child's question its parent's. It waits for the parent's caller until the child's status changes.
void Delegation::relay(const DelegatedPtr& delegated, const task::TaskHead& child) {
  const task::EventNumber number = child.status_event;
  auto task = reader_.read(child.key, task::Depth{0, false}, number);
  if (!task) return try_again(task.error(), [this, delegated] { follow(delegated); });
  // Weak, because the delegation owns the subscription: the callback must not own the delegation.
  delegated->news = live_.subscribe(child.key, [this, weak = std::weak_ptr(delegated)] {
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
  turns_.update_question(delegated->parent);
  look(delegated);
  // A canceled task gets no more questions: its child is canceled instead. Cancels handles earlier questions.
  const auto parent = reader_.head(delegated->parent);
  if (parent && parent->cancel_requested) handle(ChildUnneeded{child.key});
}

// Ends the question if the child no longer asks it. Several threads may do this at once, and one may have
// read the child as it was before it asked.
void Delegation::look(const DelegatedPtr& delegated) {
  std::int64_t number = delegated->question;
  if (number == 0) return;
  const auto child = reader_.head(delegated->subagent.task);
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

// Withdraws the child's questions up to event `last`.
void Delegation::forget_questions(const Delegated& delegated, task::EventNumber last) {
  if (turns_.questions().forget(delegated.parent, delegated.subagent.id, {last.value + 1}))
    turns_.update_question(delegated.parent);
}

// Idempotent: a repeated answer is the same send. The child accepts an answer only while it asks this
// question.
void Delegation::submit_answer(const task::TaskHead& parent, const ChildQuestion& question,
                               const task::Message& answer) {
  using base::ErrorCode;
  task::Submission submission;
  submission.caller = parent.caller;
  submission.agent = question.agent;
  submission.task = question.child_id;
  submission.message = answer;
  submission.trace = question.trace;
  submission.subject = turns_.subjects().find(parent);
  submission.waits_for = task::WaitsFor::outcome;
  ForChild terms{parent.key};
  terms.question = question.number;
  auto done = [this, parent, question, answer](const base::Result<Accepted>& accepted) {
    if (accepted) return;
    const base::Error& error = accepted.error();
    const bool is_over = error.code == ErrorCode::conflict || error.code == ErrorCode::unsupported ||
                         error.code == ErrorCode::task_not_found;
    if (is_over) return;
    if (base::may_pass(error)) {
      background_.again([this, parent, question, answer] {
        handle(QuestionAnswered{parent, question, answer});
      });
      return;
    }
    spdlog::warn("cannot pass an answer on to a child task, which is canceled: {}", error.for_caller);
    cancels_.cancel_child(question.child,
                          "The answer to its question could not be delivered: " + error.for_caller);
  };
  tasks_.submit_child(terms, std::move(submission), digest_of_answer(parent, question.ask), std::move(done));
}

// After a restart: keeps the question that the parent shows, and passes on an answer that the child has not
// received.
base::Result<void> Delegation::resume_question(const task::TaskHead& parent, const task::Subagent& subagent,
                                               const std::vector<PassedAnswer>& passed) {
  const AskParts shown = task::is_waiting(parent.state) ? parts_of_ask(parent.ask) : AskParts();
  const auto answered = std::ranges::find(passed, subagent.id, &PassedAnswer::subagent);
  const bool is_shown = shown.subagent == subagent.id;
  if (!is_shown && answered == passed.end()) return {};
  const auto child = reader_.head(subagent.task);
  if (!child) return base::fail(child.error());
  const task::EventNumber number = is_shown ? shown.number : answered->question;
  if (!is_shown && child->status_event != number) return {};
  auto question = read_question(reader_, parent, subagent, number);
  if (!question) return base::fail(std::move(question.error()));
  question->answered = !is_shown;
  turns_.questions().add(parent.key, *question);
  return is_shown ? base::Result<void>() : pass_on(parent, std::move(*question), *answered);
}

base::Result<void> Delegation::pass_on(const task::TaskHead& parent, ChildQuestion question,
                                       const PassedAnswer& passed) {
  const auto input = reader_.turn_input(parent.key, passed.number);
  if (!input) return base::fail(input.error());
  question.trace = input->request.trace;
  handle(QuestionAnswered{parent, std::move(question), passed.answer});
  return {};
}

void Delegation::pass_on_logged(task::TaskKey parent, const ChildQuestion& question) {
  background_.run([this, parent, question] {
    const auto passed = read_and_pass_on(parent, question);
    if (passed || is_gone(passed.error())) return turns_.update_question(parent);
    try_again(passed.error(), [this, parent, question] { pass_on_logged(parent, question); });
  });
}

base::Result<void> Delegation::read_and_pass_on(task::TaskKey parent, const ChildQuestion& question) {
  const auto head = reader_.head(parent);
  if (!head) return base::fail(head.error());
  const auto log = read_turn_log(reader_, *head);
  if (!log) return base::fail(log.error());
  for (const PassedAnswer& one : log->passed) {
    if (ask_of(one.subagent, one.question) == question.ask) return pass_on(*head, question, one);
  }
  return {};  // the task already works on something else
}

void Delegation::changed_elsewhere(const store::TaskEnd& now) {
  if (now.owner == turns_.self() && !now.answered.empty()) {
    if (const auto question = turns_.questions().answer(now.task, now.answered))
      pass_on_logged(now.task, *question);
  }
  turns_.changed_elsewhere(now);
}

}  // namespace baton::engine
