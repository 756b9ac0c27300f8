#include "engine/decide/kinds/send.h"

#include <utility>

#include "base/id.h"
#include "engine/decide/rules/interventions.h"
#include "engine/shared/message_checks.h"
#include "store/own_context.h"

namespace baton::engine {
namespace {

using base::ErrorCode;
using base::fail;

constexpr int kWaitingMessagesMax = 1000;

task::RequestData request_of(const task::Submission& submission) {
  return {submission.metadata, submission.tools,   submission.state, submission.extensions,
          submission.hops,     submission.history, submission.trace};
}

task::ContextId new_context(const task::NewTask& task) {
  if (task.fresh_id) return store::own_context(task.id);
  return {base::make_uuid()};
}

void put_push(task::Change& change, const task::Submission& submission, const task::TaskId& task,
              int configs_max) {
  change.push = submission.push;
  change.push_configs_max = configs_max;
  if (change.push && change.push->id.empty()) change.push->id = task::id_for_unnamed(*change.push, task);
}

}  // namespace

base::Result<task::Change> Send::decide(const store::TaskRow& now) {
  give_back();  // if this is not the first time
  wants_question = false;
  const bool is_by_context = now.head.key && submission.task.empty();
  came_late = is_by_context && now.head.state != task::State::input_required;
  if (came_late) return fail(ErrorCode::conflict, "the task is no longer waiting for input");
  auto change = now.head.key ? add_to_task(now) : create();
  if (!change) return change;
  change->send = digest;
  if (const auto& audit = submission.audit)
    note_intervention(*change, *audit, audit->task ? std::to_string(audit->task.value) : std::string());
  // A message to a running task waits for that turn's end.
  if (change->turn->state != task::TurnState::queued) return change;
  if (auto made = make_room(*change); !made) return fail(std::move(made.error()));
  return change;
}

// Reserves a slot or a place in the queue. A turn that has a slot begins in the same change that stores its
// message.
base::Result<void> Send::make_room(task::Change& change) {
  const Scheduler::Room reserved = rules.scheduler.reserve(room_request, true);
  switch (reserved) {
    case Scheduler::Room::none:
      return fail(ErrorCode::overloaded, "too many tasks are waiting; try again later");
    case Scheduler::Room::closed:
      return fail(ErrorCode::unavailable, "the server is shutting down; try again");
    case Scheduler::Room::over_share:
      return fail(ErrorCode::overloaded, "too many of this caller's tasks are waiting; try again later");
    case Scheduler::Room::queue:
      break;
    case Scheduler::Room::slot:
      change.events.push_back(
          task::StatusChanged{{task::State::working, std::nullopt, rules.clock.now()}, {}});
      change.turn->state = task::TurnState::running;
      change.turn->attempt = 1;
  }
  room = reserved;
  return {};
}

void Send::give_back() {
  const Scheduler::Room reserved = std::exchange(room, Scheduler::Room::none);
  if (reserved == Scheduler::Room::queue) rules.scheduler.release(room_request);
  if (reserved == Scheduler::Room::slot) rules.scheduler.finished(room_request.agent);
  if (const auto question = std::exchange(answers, std::nullopt))
    rules.questions.reopen(asked, question->ask);
}

base::Result<task::Change> Send::create() const {
  if (auto fits = check_size(submission, 0, rules.options.task_bytes_max); !fits) {
    return fail(std::move(fits.error()));
  }
  task::NewTask fresh;
  fresh.fresh_id = submission.task.empty();
  fresh.fresh_context = submission.context.empty();
  fresh.id = fresh.fresh_id ? task::TaskId{base::make_uuid()} : submission.task;
  fresh.agent = submission.agent;
  fresh.caller = submission.caller;
  fresh.context = fresh.fresh_context ? new_context(fresh) : submission.context;
  fresh.parent = terms.parent;
  fresh.detached = terms.detached;
  fresh.metadata = submission.metadata;
  fresh.schedule = submission.schedule;
  const agents::Agent* agent = rules.catalogue.find(submission.agent);
  fresh.budget = budget(nullptr);
  fresh.origin = submission.origin;
  fresh.hidden = submission.may_be_message && agent != nullptr &&
                 agent->settings.reply_as == agents::AgentSettings::ReplyAs::message;
  task::Change change;
  change.create = std::move(fresh);
  put_push(change, submission, change.create->id, rules.options.push_configs_max);
  change.events.push_back(task::StatusChanged{{task::State::submitted, std::nullopt, rules.clock.now()}, {}});
  change.events.push_back(task::MessageAdded{submission.message, submission.leaving});
  change.request = request_of(submission);
  change.turn.emplace();
  change.turn->turn = task::TurnNumber{1};
  change.turn->state = task::TurnState::queued;
  change.turn->message_is_new = true;
  if (auto delayed = delay(change); !delayed) return fail(std::move(delayed.error()));
  return change;
}

base::Result<task::Change> Send::add_to_task(const store::TaskRow& now) {
  const task::TaskHead& head = now.head;
  if (auto checked = check_task_accepts(submission, head, rules.options); !checked) {
    return fail(std::move(checked.error()));
  }
  if (is_later()) return fail(ErrorCode::invalid_argument, "only a new task can have a start time (startAt)");
  const task::EventNumber question = terms.question;
  if (question && question != head.status_event) {
    return fail(ErrorCode::conflict, "the question is no longer open: it was answered or withdrawn");
  }
  must_fit = task::is_waiting(head.state) && checks_answer() && fitted != head.status_event;
  if (must_fit)
    return fail(ErrorCode::conflict, "the task has asked another question since: answer that one");
  const bool has_turn = head.turn_state != task::TurnState::none;
  if (has_turn && task::is_waiting(head.state)) {
    asked = head.key;
    ask = parts_of_ask(head.ask);
    answers = rules.questions.answer(head.key, head.ask);
    if (answers) return answer(head);
    wants_question = !is_ours(now, rules.self) && !has_learned;
    if (wants_question) return fail(ErrorCode::conflict, "the question must be read first");
    if (!submission.ask.empty())
      return fail(ErrorCode::conflict, "the question is no longer open: it was answered or withdrawn");
    // An answer that a parent passes on cannot become a message of this task. The question may not be known
    // yet.
    if (question) return fail(ErrorCode::unavailable, "the question cannot be answered yet; try again");
  }
  task::Change change = change_of(head);
  put_push(change, submission, head.id, rules.options.push_configs_max);
  change.request = request_of(submission);
  change.turn.emplace();
  bind_children(head, change);
  if (has_turn) {
    if (head.waiting_messages >= kWaitingMessagesMax) {
      return fail(ErrorCode::overloaded, "too many messages are waiting for this task");
    }
    change.events.push_back(task::MessageAdded{submission.message, submission.leaving});
    change.turn->waiting_messages = head.waiting_messages + 1;
    return change;
  }
  change.reopen = task::is_terminal(head.state);
  if (change.reopen) change.turn->budget = budget(&head);
  // A reopened task must leave its terminal state before anything else can be added to its log.
  change.events.push_back(task::StatusChanged{{task::State::submitted, std::nullopt, rules.clock.now()}, {}});
  change.events.push_back(task::MessageAdded{submission.message, submission.leaving});
  change.turn->turn = task::TurnNumber{head.turn.value + 1};
  change.turn->state = task::TurnState::queued;
  change.turn->attempt = 0;
  change.turn->message_is_new = true;
  change.turn->waiting_messages = 0;
  change.turn->cancel_requested = false;
  return change;
}

// The task shows a child's question, so the message is for the child.
task::Change Send::answer(const task::TaskHead& head) {
  asked_at = head.status_event;
  task::Change change = change_of(head);
  put_push(change, submission, head.id, rules.options.push_configs_max);
  // The question's id stays in the head, so that the node that has the task's turn learns of the answer (see
  // turnover).
  change.turn.emplace().ask = head.ask;
  bind_children(head, change);
  change.events.push_back(task::StatusChanged{{task::State::working, std::nullopt, rules.clock.now()}, {}});
  change.events.push_back(
      task::Subagent{ask.subagent, {}, task::Subagent::Phase::passed, {}, {}, {}, ask.number});
  change.events.push_back(task::MessageAdded{submission.message, submission.leaving, 0, true});
  answers->trace = submission.trace;
  change.request.emplace().trace = submission.trace;
  return change;
}

// Makes the turn of a new task wait for the time that its send names.
base::Result<void> Send::delay(task::Change& change) const {
  if (!is_later()) return {};
  if (!rules.wakes.has_room(std::string(task::account_of(submission.caller)))) {
    return fail(ErrorCode::overloaded, "too many tasks are waiting for their start time; try again later");
  }
  change.create->hidden = false;
  change.turn->state = task::TurnState::waiting;
  change.turn->waits = {-1, false, submission.start_at};
  return {};
}

// Returns the budget of a task that begins, or is reopened; `before` is then its earlier head. Null if it has
// none and had none.
std::shared_ptr<const task::Budget> Send::budget(const task::TaskHead* before) const {
  const agents::Agent* agent = rules.catalogue.find(submission.agent);
  const bool is_in_card = agent != nullptr && !agent->settings.budget.empty();
  const bool had_one = before != nullptr && before->budget;
  if (!is_in_card && !submission.budget && !submission.child_agents && !had_one) return nullptr;
  task::Budget limits = is_in_card ? agent->settings.budget : task::Budget();
  if (submission.budget) limits = task::smaller(limits, *submission.budget);
  if (submission.child_agents) {
    task::Budget bound;
    bound.agents = *submission.child_agents;
    limits = task::smaller(limits, bound);
  }
  const task::Taken taken = before != nullptr ? task::Taken{before->tokens, before->children} : task::Taken();
  const base::Timestamp begins = is_later() ? *submission.start_at : rules.clock.now();
  return std::make_shared<const task::Budget>(task::begun(limits, begins, taken));
}

// Restricts the task's further delegation to the agents that the token of this message allows, too.
void Send::bind_children(const task::TaskHead& head, task::Change& change) const {
  if (!submission.child_agents) return;
  const task::Budget now = head.budget ? *head.budget : task::Budget();
  task::Budget bound;
  bound.agents = *submission.child_agents;
  bound = task::smaller(now, bound);
  if (bound != now) change.turn->budget = std::make_shared<const task::Budget>(std::move(bound));
}

}  // namespace baton::engine
