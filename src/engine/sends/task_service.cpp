#include "engine/sends/task_service.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "agents/questions.h"
#include "base/id.h"
#include "engine/decide/rules/interventions.h"
#include "engine/sends/send_digest.h"
#include "engine/shared/message_checks.h"
#include "store/own_context.h"

namespace baton::engine {
namespace {

using base::ErrorCode;
using base::fail;

// A send looks for its task again where another one was first. Losing this often has another cause.
constexpr int kTriesMax = 32;
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

// The digest by which a repetition of this submission is recognised, if it can be.
std::optional<task::SendDigest> digest_for(const task::Submission& submission) {
  if (!submission.name.empty() && !submission.context.empty()) {
    return digest_of_name(submission.caller, submission.agent, submission.context, submission.name);
  }
  if (submission.message.id.empty()) return std::nullopt;
  return digest_of(submission);
}

}  // namespace

// A submission on its way, shared by the callbacks of its decision.
struct TaskService::Pending {
  task::Submission submission;
  ForChild terms;
  Scheduler::Claim claim;
  std::optional<task::SendDigest> digest;  // none: never a repetition
  Submitted done;
  Scheduler::Room room = Scheduler::Room::none;  // what it has reserved
  std::shared_ptr<RunningTurn> run;              // its turn, if that has begun
  bool came_late = false;                        // the task that its context had waiting waits no more
  task::EventNumber fitted;  // the question whose schema the message fits; none: it was to answer none
  bool must_fit = false;     // the task waits with another question: the message has to be checked first
  std::optional<std::vector<task::Part>> given;  // the message's parts, if `fit` has replaced them
  std::optional<ChildQuestion> answers;          // the question that it answers, marked as answered
  bool wants_question = false;                   // that another node has: it has to be learned first
  bool has_learned = false;
  AskParts ask;         // of that
  task::TaskKey asked;  // the task that showed it, and since when
  task::EventNumber asked_at;
  int tries = 0;

  bool checks_answer() const { return !terms.question; }
};

TaskService::TaskService(const store::TaskStore& store, const TaskReader& reader, Inbox& inbox,
                         LiveTasks& live, TurnRunner& turns, const agents::Catalogue& catalogue,
                         Background& background, const base::Clock& clock, const EngineOptions& options)
    : store_(store),
      reader_(reader),
      inbox_(inbox),
      live_(live),
      turns_(turns),
      catalogue_(catalogue),
      background_(background),
      clock_(clock),
      options_(options),
      push_(reader, inbox, options),
      cancels_(store, reader, inbox, turns, background, clock, options) {}

base::Result<void> TaskService::check(const task::Submission& submission) const {
  const agents::Agent* agent = catalogue_.find(submission.agent);
  if (!agent && catalogue_.on_other_node(submission.agent))
    return fail(ErrorCode::unavailable, "another node serves this agent, try again");
  if (!agent) return fail(ErrorCode::not_found, not_served(submission.agent));
  if (auto checked = check_parts(submission, options_); !checked) return checked;
  if (submission.start_at && *submission.start_at - clock_.now() > options_.start_delay_max) {
    const auto most = std::chrono::duration_cast<std::chrono::seconds>(options_.start_delay_max).count();
    return fail(ErrorCode::invalid_argument,
                "a task may begin at most " + std::to_string(most) + " seconds from now");
  }
  if (!submission.hops.empty()) {
    if (auto checked = check_hops(submission, options_); !checked) return checked;
  }
  if (!any_mode_matches(submission.accepted_output_modes, agent->shown_card()->default_output_modes)) {
    return fail(ErrorCode::content_type_not_supported, "the agent has none of the accepted output modes");
  }
  return submission.push ? push_.check(*submission.push) : base::Result<void>();
}

void TaskService::submit(task::Submission submission, Submitted done) {
  const auto digest = digest_for(submission);
  submit({}, std::move(submission), digest, std::move(done));
}

void TaskService::submit_child(ForChild terms, task::Submission submission, task::SendDigest digest,
                               Submitted done) {
  submit(terms, std::move(submission), digest, std::move(done));
}

void TaskService::submit(ForChild terms, task::Submission submission, std::optional<task::SendDigest> digest,
                         Submitted done) {
  if (auto checked = check(submission); !checked) return done(fail(std::move(checked.error())));
  submission.message.role = task::Role::user;
  if (submission.message.id.empty()) submission.message.id.value = base::make_uuid();
  Scheduler::Claim claim{turns_.slots_of(submission.agent), std::string(task::account_of(submission.caller)),
                         terms.parent ? Scheduler::Origin::child : Scheduler::Origin::send};
  auto pending = std::make_shared<Pending>();
  pending->submission = std::move(submission);
  pending->terms = terms;
  pending->claim = std::move(claim);
  pending->digest = digest;
  pending->done = std::move(done);
  route(pending);
}

// Has the engine's thread decide on the submission, for the task that it concerns.
void TaskService::route(const PendingPtr& pending) {
  pending->came_late = pending->must_fit = false;
  const auto target = target_of(pending->submission);
  if (!target) return refuse(pending, target.error());
  if (auto fits = fit(*pending, *target); !fits) return refuse(pending, std::move(fits.error()));
  Decision decision;
  if (*target) decision.task = (*target)->key;
  decision.bytes = task::weight_of(pending->submission);
  decision.answers = pending->submission.waits_for == task::WaitsFor::acknowledgement;
  decision.decide = [this, pending](const store::TaskRow& now) { return decide(*pending, now); };
  decision.committed = [this, pending](const store::Committed& committed) { begin(*pending, committed); };
  decision.done = [this, pending](base::Result<Written> result) { stored(pending, std::move(result)); };
  inbox_.post(std::move(decision));
}

base::Result<TaskService::Target> TaskService::target_of(const task::Submission& submission) const {
  if (submission.task.empty()) return waiting_in_context(submission);
  auto head = reader_.head({submission.caller, submission.agent, submission.task});
  if (head) return Target(std::move(*head));
  const bool creates =
      head.error().code == ErrorCode::task_not_found && submission.when_unknown == task::WhenUnknown::create;
  if (creates) return Target();
  return fail(head.error());
}

// Checks an answer against the schema of the question that the task waits with, and makes data of its text
// where it can. The question may come from a child: then the child's card says whether it has to be data.
base::Result<void> TaskService::fit(const task::TaskHead& target, task::Message& answer) const {
  const auto events = reader_.events(target.key, {target.status_event.value - 1}, 1);
  if (!events) return fail(events.error());
  const task::StatusChanged* asked = events->empty() ? nullptr : task::status_in(events->front());
  if (asked == nullptr || !asked->status.message) return {};
  const std::vector<task::Asker>& askers = asked->status.asked_by;
  const agents::Agent* agent = catalogue_.find(askers.empty() ? target.agent : askers.back().agent);
  const bool needs_data = agent != nullptr && agent->settings.answers_need_data;
  return agents::fit_answer(*asked->status.message, options_.questions, needs_data, answer);
}

// On the thread that submits, as schemas and answers are others'. The decision checks that the task still
// waits with this question. What a parent passes on was checked when it was given to the parent.
base::Result<void> TaskService::fit(Pending& pending, const Target& target) const {
  task::Submission& submission = pending.submission;
  if (pending.given) submission.message.parts = std::move(*std::exchange(pending.given, std::nullopt));
  pending.fitted = {};
  if (!target || !task::is_waiting(target->state) || !pending.checks_answer()) return {};
  std::vector<task::Part> given = submission.message.parts;
  if (auto fits = fit(*target, submission.message); !fits) return fits;
  if (given != submission.message.parts) pending.given = std::move(given);
  pending.fitted = target->status_event;
  return {};
}

base::Result<void> TaskService::check_answer(const task::Submission& submission) const {
  const auto target = target_of(submission);
  if (!target) return fail(target.error());
  if (!*target || !task::is_waiting((*target)->state)) return {};
  task::Message answer = submission.message;
  return fit(**target, answer);
}

base::Result<task::Change> TaskService::decide(Pending& pending, const store::TaskRow& now) {
  give_back_room(pending);  // if this is not the first time
  give_back_question(pending);
  pending.wants_question = false;
  const bool is_by_context = now.head.key && pending.submission.task.empty();
  pending.came_late = is_by_context && now.head.state != task::State::input_required;
  if (pending.came_late) return fail(ErrorCode::conflict, "the task no longer waits");
  auto change = now.head.key ? go_on(pending, now) : create(pending);
  if (!change) return change;
  change->send = pending.digest;
  if (const auto& audit = pending.submission.audit)
    note_intervention(*change, *audit, audit->task ? std::to_string(audit->task.value) : std::string());
  // A message to a running task waits for that turn's end.
  const bool wants_room = change->turn->state == task::TurnState::queued;
  if (!wants_room) return change;
  if (auto room = make_room(pending, *change); !room) return fail(std::move(room.error()));
  return change;
}

// Reserves a slot or a place in the queue. A turn that has a slot begins in the same change that stores its
// message.
base::Result<void> TaskService::make_room(Pending& pending, task::Change& change) {
  const Scheduler::Room room = turns_.scheduler().reserve(pending.claim, true);
  switch (room) {
    case Scheduler::Room::none:
      return fail(ErrorCode::overloaded, "too many tasks are waiting; try again later");
    case Scheduler::Room::closed:
      return fail(ErrorCode::unavailable, "the server is shutting down, try again");
    case Scheduler::Room::over_share:
      return fail(ErrorCode::overloaded,
                  "as many of this caller's tasks are waiting as may wait; try again later");
    case Scheduler::Room::queue:
      break;
    case Scheduler::Room::slot:
      change.events.push_back(task::StatusChanged{{task::State::working, std::nullopt, clock_.now()}, {}});
      change.turn->state = task::TurnState::running;
      change.turn->attempt = 1;
  }
  pending.room = room;
  return {};
}

void TaskService::give_back_room(Pending& pending) {
  const Scheduler::Room room = std::exchange(pending.room, Scheduler::Room::none);
  if (room == Scheduler::Room::queue) turns_.scheduler().release(pending.claim);
  if (room == Scheduler::Room::slot) turns_.scheduler().finished(pending.claim.agent);
}

// The first turn of a new context has its input at hand.
void TaskService::begin(Pending& pending, const store::Committed& committed) {
  if (committed.head.turn_state == task::TurnState::waiting) turns_.go_on(committed.head);
  if (pending.room == Scheduler::Room::queue) {
    turns_.scheduler().enqueue(committed.head.key, pending.claim);
  }
  if (pending.room != Scheduler::Room::slot) return;
  std::optional<store::TurnInput> first;
  if (committed.new_context) {
    task::Submission& submission = pending.submission;
    first.emplace();
    first->task_metadata = submission.metadata;
    first->message = std::move(submission.message);
    first->request = {std::move(submission.metadata), std::move(submission.tools),
                      std::move(submission.state),    std::move(submission.extensions),
                      std::move(submission.hops),     std::move(submission.history),
                      std::move(submission.trace)};
  }
  pending.run = turns_.enroll(committed.head);
  turns_.run_if_early(pending.run, std::move(first));
}

void TaskService::stored(const PendingPtr& pending, base::Result<Written> result) {
  if (!result) {
    give_back_room(*pending);
    give_back_question(*pending);
    if (pending->asked && !pending->wants_question) {
      forget_learned(*pending);
      turns_.ask(std::exchange(pending->asked, {}));
    }
    return refuse(pending, std::move(result.error()));
  }
  if (pending->run) turns_.run_if_late(pending->run);
  const task::TaskHead& head = result->head;
  task::EventNumber after = head.last_event;
  // The submission's own events end with its message.
  if (pending->room == Scheduler::Room::slot) --after.value;
  // What the task has said since it asked belongs to the run that begins with the answer.
  const task::EventNumber before = pending->answers ? pending->asked_at : result->before;
  if (pending->answers) {
    turns_.answered(head, *pending->answers, std::move(pending->submission.message));
    forget_learned(*pending);
  } else if (pending->asked) {
    turns_.ask(pending->asked);
  }
  pending->done(
      Accepted{head.key, head.id, head.context, before, after, false, head.hidden, is_delayed(head)});
}

// The question of a task whose turn is another node's is known here for as long as it is answered.
void TaskService::forget_learned(const Pending& pending) {
  const auto& [subagent, number] = pending.ask;
  if (pending.has_learned) turns_.questions().forget(pending.asked, subagent, {number.value + 1});
}

// An earlier send of the same message may be the reason for the refusal: its answer is this one's too.
void TaskService::refuse(const PendingPtr& pending, base::Error error) {
  // Another send has made or answered the task that this one looked for, or the question is another node's.
  const bool may_pass = error.code == ErrorCode::already_exists || pending->came_late || pending->must_fit ||
                        pending->wants_question;
  const bool looks_again = may_pass && ++pending->tries < kTriesMax;
  if (!pending->digest && !looks_again) return pending->done(fail(std::move(error)));
  const bool runs = background_.run([this, pending, looks_again, error]() mutable {
    if (pending->digest) {
      auto accepted = earlier_send(*pending->digest);
      if (accepted || accepted.error().code != ErrorCode::not_found)
        return pending->done(std::move(accepted));
    }
    if (std::exchange(pending->wants_question, false)) {
      pending->has_learned = true;
      if (auto learned = turns_.learn_question(pending->asked); !learned)
        return pending->done(fail(std::move(learned.error())));
    }
    if (looks_again) return route(pending);
    pending->done(fail(std::move(error)));
  });
  if (!runs) pending->done(fail(std::move(error)));  // the program is stopping
}

base::Result<task::Change> TaskService::create(const Pending& pending) const {
  const task::Submission& submission = pending.submission;
  if (auto fits = check_size(submission, 0, options_.task_bytes_max); !fits) {
    return fail(std::move(fits.error()));
  }
  task::NewTask fresh;
  fresh.fresh_id = submission.task.empty();
  fresh.fresh_context = submission.context.empty();
  fresh.id = fresh.fresh_id ? task::TaskId{base::make_uuid()} : submission.task;
  fresh.agent = submission.agent;
  fresh.caller = submission.caller;
  fresh.context = fresh.fresh_context ? new_context(fresh) : submission.context;
  fresh.parent = pending.terms.parent;
  fresh.detached = pending.terms.detached;
  fresh.metadata = submission.metadata;
  fresh.schedule = submission.schedule;
  const agents::Agent* agent = catalogue_.find(submission.agent);
  fresh.budget = budget_for(submission, agent, nullptr);
  fresh.origin = submission.origin;
  fresh.hidden = submission.may_be_message && agent != nullptr &&
                 agent->settings.reply_as == agents::AgentSettings::ReplyAs::message;
  task::Change change;
  change.create = std::move(fresh);
  put_push(change, submission, change.create->id, options_.push_configs_max);
  change.events.push_back(task::StatusChanged{{task::State::submitted, std::nullopt, clock_.now()}, {}});
  change.events.push_back(task::MessageAdded{submission.message, submission.leaving});
  change.request = request_of(submission);
  change.turn.emplace();
  change.turn->turn = task::TurnNumber{1};
  change.turn->state = task::TurnState::queued;
  change.turn->message_is_new = true;
  if (auto delayed = delay(submission, change); !delayed) return fail(std::move(delayed.error()));
  return change;
}

base::Result<task::Change> TaskService::go_on(Pending& pending, const store::TaskRow& now) {
  const task::TaskHead& head = now.head;
  const task::Submission& submission = pending.submission;
  if (auto checked = check_going_on(submission, head, options_); !checked) {
    return fail(std::move(checked.error()));
  }
  if (is_later(submission))
    return fail(ErrorCode::invalid_argument, "only a new task can begin at a later time");
  const task::EventNumber question = pending.terms.question;
  if (question && question != head.status_event) {
    return fail(ErrorCode::conflict, "the question is no longer open");
  }
  pending.must_fit =
      task::is_waiting(head.state) && pending.checks_answer() && pending.fitted != head.status_event;
  if (pending.must_fit) return fail(ErrorCode::conflict, "the task has asked another question");
  const bool has_turn = head.turn_state != task::TurnState::none;
  if (has_turn && task::is_waiting(head.state)) {
    pending.asked = head.key;
    pending.ask = parts_of_ask(head.ask);
    pending.answers = turns_.questions().answer(head.key, head.ask);
    if (pending.answers) return answer(pending, head);
    pending.wants_question = !turns_.is_ours(now) && !pending.has_learned;
    if (pending.wants_question) return fail(ErrorCode::conflict, "the question has to be learned first");
    if (!submission.ask.empty()) return fail(ErrorCode::conflict, "the question is no longer open");
    // An answer that a parent passes on is no message of its own. The question may not be known yet.
    if (question) return fail(ErrorCode::unavailable, "the question cannot be answered yet");
  }
  task::Change change;
  change.task = head.key;
  change.expected = head.version;
  put_push(change, submission, head.id, options_.push_configs_max);
  change.request = request_of(submission);
  change.turn.emplace();
  bind_children(submission, head, change);
  if (has_turn) {
    if (head.waiting_messages >= kWaitingMessagesMax) {
      return fail(ErrorCode::overloaded, "too many messages are waiting for this task");
    }
    change.events.push_back(task::MessageAdded{submission.message, submission.leaving});
    change.turn->waiting_messages = head.waiting_messages + 1;
    return change;
  }
  change.reopen = task::is_terminal(head.state);
  if (change.reopen) change.turn->budget = budget_for(submission, catalogue_.find(submission.agent), &head);
  // A reopened task must leave its terminal state before anything else can be added to its log.
  change.events.push_back(task::StatusChanged{{task::State::submitted, std::nullopt, clock_.now()}, {}});
  change.events.push_back(task::MessageAdded{submission.message, submission.leaving});
  change.turn->turn = task::TurnNumber{head.turn.value + 1};
  change.turn->state = task::TurnState::queued;
  change.turn->attempt = 0;
  change.turn->message_is_new = true;
  change.turn->waiting_messages = 0;
  change.turn->cancel_requested = false;
  return change;
}

// The task shows a child's question: the message is the child's.
task::Change TaskService::answer(Pending& pending, const task::TaskHead& head) const {
  const task::Submission& submission = pending.submission;
  pending.asked_at = head.status_event;
  task::Change change;
  change.task = head.key;
  change.expected = head.version;
  put_push(change, submission, head.id, options_.push_configs_max);
  // Its id stays: so the node that has the task's turn learns that it is answered (see turnover).
  change.turn.emplace().ask = head.ask;
  bind_children(submission, head, change);
  change.events.push_back(task::StatusChanged{{task::State::working, std::nullopt, clock_.now()}, {}});
  change.events.push_back(task::Subagent{
      pending.ask.subagent, {}, task::Subagent::Phase::passed, {}, {}, {}, pending.ask.number});
  change.events.push_back(task::MessageAdded{submission.message, submission.leaving, 0, true});
  pending.answers->trace = submission.trace;
  change.request.emplace().trace = submission.trace;
  return change;
}

void TaskService::give_back_question(Pending& pending) {
  if (const auto question = std::exchange(pending.answers, std::nullopt))
    turns_.questions().reopen(pending.asked, question->ask);
}

// ---- TaskService: where runs begin, also for who repeats a send, and what becomes of those whose client has
// left.

namespace {

using base::fail;

constexpr int kBeginningMax = 100;  // events of a run up to its message

}  // namespace

// The answer to the earlier send with this digest; not_found if there was none.
base::Result<Accepted> TaskService::earlier_send(const task::SendDigest& digest) const {
  const auto send = store_.earlier_send(digest);
  if (!send) return fail(send.error());
  const auto head = reader_.head(send->task);
  if (!head) return fail(head.error());
  // The send's own events end with its message.
  const auto events = reader_.events(send->task, send->before, 3);
  if (!events) return fail(events.error());
  task::EventNumber before = send->before, after = before;
  for (const task::Event& event : *events) {
    after = event.number;
    const auto* added = std::get_if<task::MessageAdded>(&event.body);
    if (added == nullptr) continue;
    if (!added->for_child) break;
    const auto asked = reader_.stop_before(send->task, after);
    if (!asked) return fail(asked.error());
    before = *asked;
    break;
  }
  return Accepted{head->key, head->id, head->context, before, after, true, head->hidden, is_delayed(*head)};
}

// Has the turn of a new task wait for the time that its send names.
base::Result<void> TaskService::delay(const task::Submission& submission, task::Change& change) const {
  if (!is_later(submission)) return {};
  if (!turns_.may_wait_for_time(submission.caller)) {
    return fail(base::ErrorCode::overloaded, "too many tasks wait for the time of their beginning");
  }
  change.create->hidden = false;
  change.turn->state = task::TurnState::waiting;
  change.turn->waits = {-1, false, submission.start_at};
  return {};
}

// The budget of a task that begins, or begins again after what it was `before`; null: it has none and had
// none.
std::shared_ptr<const task::Budget> TaskService::budget_for(const task::Submission& submission,
                                                            const agents::Agent* agent,
                                                            const task::TaskHead* before) const {
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
  const base::Timestamp begins = is_later(submission) ? *submission.start_at : clock_.now();
  return std::make_shared<const task::Budget>(task::begun(limits, begins, taken));
}

// What the task delegates from now on is bound by the token of this message, too.
void TaskService::bind_children(const task::Submission& submission, const task::TaskHead& head,
                                task::Change& change) {
  if (!submission.child_agents) return;
  const task::Budget now = head.budget ? *head.budget : task::Budget();
  task::Budget bound;
  bound.agents = *submission.child_agents;
  bound = task::smaller(now, bound);
  if (bound != now) change.turn->budget = std::make_shared<const task::Budget>(std::move(bound));
}

base::Result<Accepted> TaskService::earlier(const task::Caller& caller, const task::AgentName& agent,
                                            const task::ContextId& context, const std::string& name) const {
  return earlier_send(digest_of_name(caller, agent, context, name));
}

base::Result<task::Leaving> TaskService::leaving(task::TaskKey key, task::EventNumber before) const {
  // A run begins with its message, after a status or what the task said while it showed a child's question.
  const auto events = reader_.events(key, before, kBeginningMax);
  if (!events) return fail(events.error());
  for (const task::Event& event : *events) {
    const auto* added = std::get_if<task::MessageAdded>(&event.body);
    if (added != nullptr && added->message.role == task::Role::user) return added->leaving;
  }
  return task::Leaving::goes_on;
}

void TaskService::client_left(task::TaskKey key, const task::AgentName& agent, task::EventNumber before) {
  const agents::Agent* known = catalogue_.find(agent);
  const auto grace = known != nullptr ? known->settings.hang_up_grace.value_or(options_.hang_up_grace)
                                      : options_.hang_up_grace;
  if (grace == std::chrono::milliseconds(0)) return;
  background_.timers().after(grace, [this, key, before, grace] {
    background_.run([this, key, before, grace] {
      if (!is_abandoned(key, before)) return;
      const double seconds = std::chrono::duration<double>(grace).count();
      cancels_.cancel(
          key, [](const base::Result<task::TaskKey>&) {},
          fmt::format("The client hung up and nobody followed the run for {:g} s.", seconds));
    });
  });
}

bool TaskService::is_followed(task::TaskKey key) const {
  if (live_.is_followed(key)) return true;
  return options_.peers != nullptr && options_.peers->is_followed_elsewhere(key);
}

base::Result<store::Peers::Claim> TaskService::claim_from_others(const task::Caller& caller,
                                                                 const std::string& name) const {
  if (options_.peers == nullptr) return std::make_shared<const std::string>(name);
  return options_.peers->claim(caller, name);
}

bool TaskService::is_abandoned(task::TaskKey key, task::EventNumber before) const {
  const auto head = reader_.head(key);
  // An A2A client comes back for its task by other means.
  if (!head || head->origin != task::ProtocolVersion::none || task::is_stopped(head->state)) return false;
  const auto now = reader_.stop_before(key, head->last_event);
  const auto rule = leaving(key, before);
  const bool may_be = now && *now == before && rule && *rule == task::Leaving::cancels;
  return may_be && !is_followed(key);
}

// The task that a message answers without naming it: the only one that waits in its context.
base::Result<TaskService::Target> TaskService::waiting_in_context(const task::Submission& submission) const {
  if (!submission.answers_context || submission.context.empty()) return Target();
  task::ListFilter filter;
  filter.caller = submission.caller;
  filter.agent = submission.agent;
  filter.context = submission.context;
  filter.state = task::State::input_required;
  filter.limit = 2;
  auto page = reader_.list(filter);
  if (!page) return fail(page.error());
  return page->heads.size() == 1 ? Target(std::move(page->heads.front())) : Target();
}

}  // namespace baton::engine
