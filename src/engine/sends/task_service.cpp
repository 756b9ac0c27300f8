#include "engine/sends/task_service.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "agents/questions.h"
#include "base/id.h"
#include "base/text.h"
#include "engine/sends/send_digest.h"
#include "engine/shared/message_checks.h"
#include "engine/turns/shown_question.h"

namespace baton::engine {
namespace {

using base::ErrorCode;
using base::fail;

// A send that lost a race for its task looks for the task again. Losing this often has another cause.
constexpr int kTriesMax = 32;

// Returns the digest that identifies repetitions of this submission; unset if they cannot be recognized.
std::optional<task::SendDigest> digest_for(const task::Submission& submission) {
  if (!submission.name.empty() && !submission.context.empty()) {
    return digest_of_name(submission.caller, submission.agent, submission.context, submission.name);
  }
  if (submission.message.id.empty()) return std::nullopt;
  return digest_of(submission);
}

}  // namespace

// A pending send, shared by the callbacks of its decision.
struct TaskService::Sending : Send {
  using Send::Send;

  Submitted done;
  std::shared_ptr<RunningTurn> run;              // its turn, if that has begun
  std::optional<std::vector<task::Part>> given;  // the message's parts, if `fit` has replaced them
  int tries = 0;
};

TaskService::TaskService(const store::TaskStore& store, const TaskReader& reader, Inbox& inbox,
                         LiveTasks& live, TurnRunner& turns, const PushConfigs& push, Cancels& cancels,
                         const agents::Catalogue& catalogue, Background& background, const base::Clock& clock,
                         const EngineOptions& options, const EngineWiring& wiring)
    : store_(store),
      reader_(reader),
      inbox_(inbox),
      live_(live),
      turns_(turns),
      catalogue_(catalogue),
      background_(background),
      clock_(clock),
      options_(options),
      wiring_(wiring),
      rules_{catalogue, options, clock, turns.scheduler(), turns.wakes(), turns.questions(), turns.self()},
      push_(push),
      cancels_(cancels) {}

base::Result<void> TaskService::check(const task::Submission& submission) const {
  const agents::Agent* agent = catalogue_.find(submission.agent);
  if (!agent && catalogue_.on_other_node(submission.agent))
    return fail(ErrorCode::unavailable, "another node serves this agent; try again");
  if (!agent) return fail(ErrorCode::not_found, not_served(submission.agent));
  if (auto checked = check_parts(submission, options_); !checked) return checked;
  if (submission.start_at && *submission.start_at - clock_.now() > options_.start_delay_max) {
    const auto most = std::chrono::duration_cast<std::chrono::seconds>(options_.start_delay_max).count();
    return fail(ErrorCode::invalid_argument,
                "a task may begin at most " + base::counted(most, "second") + " from now");
  }
  if (!submission.hops.empty()) {
    if (auto checked = check_hops(submission, wiring_.node, options_.hops_max); !checked) return checked;
  }
  if (!any_mode_matches(submission.accepted_output_modes, agent->shown_card()->default_output_modes)) {
    return fail(ErrorCode::content_type_not_supported,
                "the agent supports none of the accepted output modes");
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
  Scheduler::RoomRequest room_request{turns_.slots_of(submission.agent),
                                      std::string(task::account_of(submission.caller)),
                                      terms.parent ? Scheduler::Origin::child : Scheduler::Origin::send};
  auto sending = std::make_shared<Sending>(rules_, std::move(submission));
  sending->terms = terms;
  sending->room_request = std::move(room_request);
  sending->digest = digest;
  sending->done = std::move(done);
  route(sending);
}

// Posts the decision on the submission, for the task that it concerns.
void TaskService::route(const SendingPtr& sending) {
  sending->came_late = sending->must_fit = false;
  const auto target = target_of(sending->submission);
  if (!target) return refuse(sending, target.error());
  if (auto fits = fit(*sending, *target); !fits) return refuse(sending, std::move(fits.error()));
  sending->task = *target ? (*target)->key : task::TaskKey();
  Decision decision(sending);
  decision.bytes = task::weight_of(sending->submission);
  decision.is_awaited = sending->submission.waits_for == task::WaitsFor::acknowledgement;
  decision.committed = [this, sending](const store::Committed& committed) {
    begin_turn(*sending, committed);
  };
  decision.done = [this, sending](base::Result<Written> result) { stored(sending, std::move(result)); };
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

// Checks an answer against the schema of the task's question, and converts its text to data where possible.
// If a child asks the question, the child's card says whether the answer must be data.
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

// Runs on the submitting thread, because schemas and answers are untrusted. The decision checks that the task
// still waits with this question. An answer that a parent passes on was checked when the parent received it.
base::Result<void> TaskService::fit(Sending& sending, const Target& target) const {
  task::Submission& submission = sending.submission;
  if (sending.given) submission.message.parts = std::move(*std::exchange(sending.given, std::nullopt));
  sending.fitted = {};
  if (!target || !task::is_waiting(target->state) || !sending.checks_answer()) return {};
  std::vector<task::Part> given = submission.message.parts;
  if (auto fits = fit(*target, submission.message); !fits) return fits;
  if (given != submission.message.parts) sending.given = std::move(given);
  sending.fitted = target->status_event;
  return {};
}

base::Result<void> TaskService::check_answer(const task::Submission& submission) const {
  const auto target = target_of(submission);
  if (!target) return fail(target.error());
  if (!*target || !task::is_waiting((*target)->state)) return {};
  task::Message answer = submission.message;
  return fit(**target, answer);
}

// The first turn of a new context gets its input from the submission, without reading the store.
void TaskService::begin_turn(Sending& sending, const store::Committed& committed) {
  turns_.subjects().put(committed.head, sending.submission.subject);
  if (committed.head.turn_state == task::TurnState::waiting) turns_.schedule(committed.head);
  if (sending.room == Scheduler::Room::queue) {
    turns_.scheduler().enqueue(committed.head.key, sending.room_request);
  }
  if (sending.room != Scheduler::Room::slot) return;
  std::optional<store::TurnInput> first;
  if (committed.new_context) {
    task::Submission& submission = sending.submission;
    first.emplace();
    first->task_metadata = submission.metadata;
    first->message = std::move(submission.message);
    first->request = {std::move(submission.metadata), std::move(submission.tools),
                      std::move(submission.state),    std::move(submission.extensions),
                      std::move(submission.hops),     std::move(submission.history),
                      std::move(submission.trace)};
  }
  sending.run = turns_.enroll(committed.head);
  turns_.run_if_early(sending.run, std::move(first));
}

void TaskService::stored(const SendingPtr& sending, base::Result<Written> result) {
  if (!result) {
    sending->give_back();
    if (sending->asked && !sending->wants_question) {
      forget_learned(*sending);
      turns_.update_question(std::exchange(sending->asked, {}));
    }
    return refuse(sending, std::move(result.error()));
  }
  if (sending->run) turns_.run_if_late(sending->run);
  const task::TaskHead& head = result->head;
  task::EventNumber after = head.last_event;
  // The submission's own events end with its message.
  if (sending->room == Scheduler::Room::slot) --after.value;
  // The task's output since the question belongs to the run that begins with the answer.
  const task::EventNumber before = sending->answers ? sending->asked_at : result->before;
  if (sending->answers) {
    turns_.update_question(head.key, &head);
    turns_.report(QuestionAnswered{head, *sending->answers, std::move(sending->submission.message)});
    forget_learned(*sending);
  } else if (sending->asked) {
    turns_.update_question(sending->asked);
  }
  sending->done(
      Accepted{head.key, head.id, head.context, before, after, false, head.hidden, is_delayed(head)});
}

// A question learned from another node is kept here only while it is being answered.
void TaskService::forget_learned(const Sending& sending) {
  const auto& [subagent, number] = sending.ask;
  if (sending.has_learned) turns_.questions().forget(sending.asked, subagent, {number.value + 1});
}

// The refusal may be due to an earlier send of the same message, whose answer then answers this one.
void TaskService::refuse(const SendingPtr& sending, base::Error error) {
  // Another send has created or answered the task meanwhile, or another node has the question.
  const bool may_pass = error.code == ErrorCode::already_exists || sending->came_late || sending->must_fit ||
                        sending->wants_question;
  const bool looks_again = may_pass && ++sending->tries < kTriesMax;
  if (!sending->digest && !looks_again) return sending->done(fail(std::move(error)));
  const bool runs = background_.run([this, sending, looks_again, error]() mutable {
    if (sending->digest) {
      auto accepted = earlier_send(*sending->digest);
      if (accepted || accepted.error().code != ErrorCode::not_found)
        return sending->done(std::move(accepted));
    }
    if (std::exchange(sending->wants_question, false)) {
      sending->has_learned = true;
      if (auto learned = learn_question(reader_, sending->asked, turns_.questions()); !learned)
        return sending->done(fail(std::move(learned.error())));
    }
    if (looks_again) return route(sending);
    sending->done(fail(std::move(error)));
  });
  if (!runs) sending->done(fail(std::move(error)));  // the program is stopping
}

// ---- Runs

namespace {

constexpr int kBeginningMax = 100;  // events of a run up to its message

}  // namespace

// Returns the answer to the earlier send with this digest, or not_found.
base::Result<Accepted> TaskService::earlier_send(const task::SendDigest& digest) const {
  const auto send = store_.earlier_send(digest);
  if (!send) return fail(send.error());
  // The send's own events end with its message. The head is read after them, so that a task that is removed
  // meanwhile is not found, instead of having no events.
  const auto events = reader_.events(send->task, send->before, 3);
  if (!events) return fail(events.error());
  const auto head = reader_.head(send->task);
  if (!head) return fail(head.error());
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

base::Result<Accepted> TaskService::earlier(const task::Caller& caller, const task::AgentName& agent,
                                            const task::ContextId& context, const std::string& name) const {
  return earlier_send(digest_of_name(caller, agent, context, name));
}

base::Result<task::Leaving> TaskService::leaving(task::TaskKey key, task::EventNumber before) const {
  // A run begins with its message, which follows a status, or output of a task that showed a child's
  // question.
  const auto events = reader_.events(key, before, kBeginningMax);
  if (!events) return fail(events.error());
  for (const task::Event& event : *events) {
    const auto* added = std::get_if<task::MessageAdded>(&event.body);
    if (added != nullptr && added->message.role == task::Role::user) return added->leaving;
  }
  return task::Leaving::goes_on;
}

void TaskService::client_left(task::TaskKey key, const task::AgentName& agent, task::EventNumber before,
                              std::optional<std::chrono::milliseconds> given) {
  const agents::Agent* known = catalogue_.find(agent);
  if (!given && known != nullptr) given = known->settings.hang_up_grace;
  const auto grace = given.value_or(options_.hang_up_grace);
  if (grace == std::chrono::milliseconds(0)) return;
  background_.timers().after(grace, [this, key, before, grace] {
    background_.run([this, key, before, grace] {
      if (!is_abandoned(key, before)) return;
      const double seconds = std::chrono::duration<double>(grace).count();
      cancels_.cancel(
          key, [](const base::Result<task::TaskKey>&) {},
          fmt::format("The client disconnected and nobody followed the run for {:g} s.", seconds));
    });
  });
}

bool TaskService::is_followed(task::TaskKey key) const {
  if (live_.is_followed(key)) return true;
  return wiring_.peers != nullptr && wiring_.peers->is_followed_elsewhere(key);
}

base::Result<store::Peers::Claim> TaskService::claim_from_others(const task::Caller& caller,
                                                                 const std::string& name) const {
  if (wiring_.peers == nullptr) return std::make_shared<const std::string>(name);
  return wiring_.peers->claim(caller, name);
}

bool TaskService::is_abandoned(task::TaskKey key, task::EventNumber before) const {
  const auto head = reader_.head(key);
  // An A2A client can return to its task by other means.
  if (!head || head->origin != task::ProtocolVersion::none || task::is_stopped(head->state)) return false;
  const auto now = reader_.stop_before(key, head->last_event);
  const auto rule = leaving(key, before);
  const bool may_be = now && *now == before && rule && *rule == task::Leaving::cancels;
  return may_be && !is_followed(key);
}

// Returns the only task that waits in the message's context, which the message answers without naming it.
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
