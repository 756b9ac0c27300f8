#include "engine/task_service.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "base/id.h"
#include "engine/message_checks.h"
#include "engine/send_digest.h"
#include "store/own_context.h"

namespace baton::engine {
namespace {

using base::ErrorCode;
using base::fail;

// A lost race means deciding again. Losing this often has another cause.
constexpr int kTriesMax = 32;
constexpr int kWaitingMessagesMax = 1000;

// "text" and "text/plain" are the same mode.
std::string_view mode_of(std::string_view mode) {
  return mode == "text" ? "text/plain" : mode;
}

bool any_mode_matches(const std::vector<std::string>& wanted, const std::vector<std::string>& offered) {
  if (wanted.empty() || offered.empty()) return true;
  return std::any_of(wanted.begin(), wanted.end(), [&](const std::string& mode) {
    return mode == "*/*" || std::any_of(offered.begin(), offered.end(), [&](const std::string& other) {
             return mode_of(mode) == mode_of(other) || other == "*/*";
           });
  });
}

task::TurnRequest request_of(const task::Submission& submission) {
  return {submission.metadata, submission.tools, submission.state, submission.extensions, submission.history};
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

// The answer to the earlier send with this digest; not_found if there was none.
base::Result<Accepted> earlier_send(const store::TaskStore& store, const task::SendDigest& digest) {
  const auto send = store.earlier_send(digest);
  if (!send) return fail(send.error());
  const auto head = store.head(send->task);
  if (!head) return fail(head.error());
  // The send's own events are its message, and perhaps a status before it.
  const auto events = store.events(send->task, send->before, 2);
  if (!events) return fail(events.error());
  task::EventNumber after = send->before;
  for (const task::Event& event : *events) {
    after = event.number;
    if (std::holds_alternative<task::MessageAdded>(event.body)) break;
  }
  return Accepted{head->key, head->id, head->context, send->before, after, true, head->hidden};
}

}  // namespace

struct TaskService::Pending {
  task::Submission submission;
  task::TaskKey parent;
  Scheduler::Claim claim;
  std::optional<task::SendDigest> digest;  // none: never a repetition
  Submitted done;
  int tries = 0;
  bool begun = false;  // its turn began early
};

TaskService::TaskService(store::TaskStore& store, Ledger& ledger, Feed& feed, Turns& turns,
                         const agents::Catalogue& catalogue, Background& background, const base::Clock& clock,
                         const EngineOptions& options)
    : store_(store),
      ledger_(ledger),
      feed_(feed),
      turns_(turns),
      catalogue_(catalogue),
      background_(background),
      clock_(clock),
      options_(options),
      push_(store, ledger, options),
      waits_(feed, background),
      cancels_(store, ledger, turns, waits_, background, clock, options) {}

base::Result<void> TaskService::check(const task::Submission& submission) const {
  const agents::Agent* agent = catalogue_.find(submission.agent);
  if (!agent) return fail(ErrorCode::not_found, "no such agent");
  if (submission.message.parts.empty())
    return fail(ErrorCode::invalid_argument, "message.parts: must not be empty");
  for (const task::Part& part : submission.message.parts) {
    if (task::content_size(part) > options_.part_bytes_max) {
      return fail(ErrorCode::too_large,
                  "a part is larger than " + std::to_string(options_.part_bytes_max) + " bytes");
    }
  }
  if (!any_mode_matches(submission.accepted_output_modes, agent->card.default_output_modes)) {
    return fail(ErrorCode::content_type_not_supported, "the agent has none of the accepted output modes");
  }
  return submission.push ? push_.check(*submission.push) : base::Result<void>();
}

void TaskService::submit(task::Submission submission, Submitted done) {
  submit_child({}, std::move(submission), std::move(done));
}

void TaskService::submit_child(task::TaskKey parent, task::Submission submission, Submitted done) {
  if (auto checked = check(submission); !checked) return done(fail(std::move(checked.error())));
  submission.message.role = task::Role::user;
  std::optional<task::SendDigest> digest;
  if (!parent) digest = digest_for(submission);
  if (submission.message.id.empty()) submission.message.id.value = base::make_uuid();
  // A turn that waits for children must get them: the caller's share does not bound those.
  Scheduler::Claim claim{submission.agent, std::string(task::account_of(submission.caller)), !parent};
  attempt(std::make_shared<Pending>(
      Pending{std::move(submission), parent, std::move(claim), digest, std::move(done)}));
}

void TaskService::attempt(const PendingPtr& pending) {
  // Not on the first try: the store itself refuses a send that it knows.
  if (pending->tries > 0 && answer_repeated(*pending)) return;
  auto decision = decide(*pending);
  Scheduler::Room room = Scheduler::Room::none;
  if (decision && decision->has_turn) {
    task::Change& change = decision->change;
    room = turns_.scheduler().reserve(pending->claim, !change.task || !turns_.has(change.task));
    if (room == Scheduler::Room::slot) begin_turn(change);
    if (room == Scheduler::Room::none) {
      decision = fail(ErrorCode::overloaded, "too many tasks are waiting; try again later");
    }
    if (room == Scheduler::Room::over_share) {
      decision = fail(ErrorCode::overloaded,
                      "as many of this caller's tasks are waiting as may wait; try again later");
    }
  }
  if (!decision) {
    // An earlier send of the same message may be the reason for the refusal.
    if (!answer_repeated(*pending)) pending->done(fail(std::move(decision.error())));
    return;
  }
  decision->change.send = pending->digest;
  Ledger::Early early;
  if (room == Scheduler::Room::slot && may_begin_early(decision->change)) {
    early = [this, pending](const store::Committed& committed) { begin_early(*pending, committed); };
  }
  ledger_.commit(
      std::move(decision->change),
      [this, pending, room](base::Result<Ledger::Written> result) {
        stored(pending, room, std::move(result));
      },
      std::move(early));
}

// A power failure at that moment loses the task, and its caller sends it again. So an agent whose work must
// not be done twice waits for the disk.
bool TaskService::may_begin_early(const task::Change& change) const {
  if (!change.create) return false;
  const agents::Agent* agent = catalogue_.find(change.create->agent);
  return agent != nullptr && agent->settings.recovery != agents::AgentSettings::Recovery::fail;
}

// The first turn of a new context does not wait for the disk: its input is at hand, and nothing is shown of
// it or its output before that is on the disk.
void TaskService::begin_early(Pending& pending, const store::Committed& committed) {
  if (!committed.new_context) return;
  task::Submission& submission = pending.submission;
  store::TurnInput input;
  input.task_metadata = submission.metadata;
  input.message = std::move(submission.message);
  input.request = {std::move(submission.metadata), std::move(submission.tools), std::move(submission.state),
                   std::move(submission.extensions), std::move(submission.history)};
  turns_.begun(committed.head, std::move(input));
  pending.begun = true;
}

// A turn that has a slot begins in the same change that stores its message.
void TaskService::begin_turn(task::Change& change) const {
  change.events.push_back(task::StatusChanged{{task::State::working, std::nullopt, clock_.now()}, {}});
  change.turn->state = task::TurnState::running;
  change.turn->attempt = 1;
}

// Answers a repetition with the earlier send. Returns whether it was one.
bool TaskService::answer_repeated(const Pending& pending) const {
  if (!pending.digest) return false;
  auto accepted = earlier_send(store_, *pending.digest);
  if (!accepted && accepted.error().code == ErrorCode::not_found) return false;
  pending.done(std::move(accepted));
  return true;
}

base::Result<TaskService::Decision> TaskService::decide(const Pending& pending) const {
  const task::Submission& submission = pending.submission;
  if (submission.task.empty()) {
    const auto waiting = waiting_in_context(submission);
    if (!waiting) return fail(waiting.error());
    return *waiting ? go_on(pending, **waiting) : create(pending);
  }
  const auto head = store_.head({submission.caller, submission.agent, submission.task});
  if (head) return go_on(pending, *head);
  const bool creates =
      head.error().code == ErrorCode::task_not_found && submission.when_unknown == task::WhenUnknown::create;
  if (creates) return create(pending);
  return fail(head.error());
}

// The task that a message answers without naming it: the only one that waits in its context.
base::Result<std::optional<task::TaskHead>> TaskService::waiting_in_context(
    const task::Submission& submission) const {
  if (!submission.answers_context || submission.context.empty()) return std::nullopt;
  task::ListFilter filter;
  filter.caller = submission.caller;
  filter.agent = submission.agent;
  filter.context = submission.context;
  filter.state = task::State::input_required;
  filter.limit = 2;
  auto page = store_.list(filter);
  if (!page) return fail(std::move(page.error()));
  if (page->heads.size() != 1) return std::nullopt;
  return std::move(page->heads.front());
}

base::Result<TaskService::Decision> TaskService::create(const Pending& pending) const {
  const task::Submission& submission = pending.submission;
  if (auto fits = check_size(submission, 0, options_.task_bytes_max); !fits) {
    return fail(std::move(fits.error()));
  }
  Decision decision;
  decision.has_turn = true;
  task::NewTask fresh;
  fresh.fresh_id = submission.task.empty();
  fresh.fresh_context = submission.context.empty();
  fresh.id = fresh.fresh_id ? task::TaskId{base::make_uuid()} : submission.task;
  fresh.agent = submission.agent;
  fresh.caller = submission.caller;
  fresh.context = fresh.fresh_context ? new_context(fresh) : submission.context;
  fresh.parent = pending.parent;
  fresh.metadata = submission.metadata;
  fresh.origin = submission.origin;
  const agents::Agent* agent = catalogue_.find(submission.agent);
  fresh.hidden = submission.may_be_message && agent != nullptr &&
                 agent->settings.reply_as == agents::AgentSettings::ReplyAs::message;
  task::Change& change = decision.change;
  change.create = std::move(fresh);
  put_push(change, submission, change.create->id, options_.push_configs_max);
  change.events.push_back(task::StatusChanged{{task::State::submitted, std::nullopt, clock_.now()}, {}});
  change.events.push_back(task::MessageAdded{submission.message, submission.leaving});
  change.request = request_of(submission);
  change.turn.emplace();
  change.turn->turn = task::TurnNumber{1};
  change.turn->state = task::TurnState::queued;
  change.turn->message_is_new = true;
  return decision;
}

base::Result<TaskService::Decision> TaskService::go_on(const Pending& pending,
                                                       const task::TaskHead& head) const {
  const task::Submission& submission = pending.submission;
  if (auto checked = check_going_on(submission, head, options_); !checked) {
    return fail(std::move(checked.error()));
  }
  Decision decision;
  task::Change& change = decision.change;
  change.task = head.key;
  change.expected = head.version;
  put_push(change, submission, head.id, options_.push_configs_max);
  change.request = request_of(submission);
  change.turn.emplace();
  if (head.turn_state != task::TurnState::none) {
    if (head.waiting_messages >= kWaitingMessagesMax) {
      return fail(ErrorCode::overloaded, "too many messages are waiting for this task");
    }
    change.events.push_back(task::MessageAdded{submission.message, submission.leaving});
    change.turn->waiting_messages = head.waiting_messages + 1;
    return decision;
  }
  decision.has_turn = true;
  change.reopen = task::is_terminal(head.state);
  // A reopened task must leave its terminal state before anything else can be added to its log.
  change.events.push_back(task::StatusChanged{{task::State::submitted, std::nullopt, clock_.now()}, {}});
  change.events.push_back(task::MessageAdded{submission.message, submission.leaving});
  change.turn->turn = task::TurnNumber{head.turn.value + 1};
  change.turn->state = task::TurnState::queued;
  change.turn->attempt = 0;
  change.turn->message_is_new = true;
  change.turn->waiting_messages = 0;
  change.turn->cancel_requested = false;
  return decision;
}

void TaskService::stored(const PendingPtr& pending, Scheduler::Room room,
                         base::Result<Ledger::Written> result) {
  if (result) {
    const task::TaskHead& head = result->head;
    task::EventNumber after = head.last_event;
    if (room == Scheduler::Room::queue) turns_.scheduler().enqueue(head.key, pending->claim);
    if (room == Scheduler::Room::slot) {
      if (!pending->begun) turns_.begun(head);
      --after.value;  // the submission's own events end with its message
    }
    return pending->done(
        Accepted{head.key, head.id, head.context, result->before, after, false, head.hidden});
  }
  if (room == Scheduler::Room::queue) turns_.scheduler().release(pending->claim);
  if (room == Scheduler::Room::slot) turns_.scheduler().finished(pending->submission.agent);
  const ErrorCode code = result.error().code;
  const bool lost_race = code == ErrorCode::conflict || code == ErrorCode::already_exists;
  if (!lost_race || ++pending->tries >= kTriesMax) return pending->done(fail(std::move(result.error())));
  background_.run([this, pending] { attempt(pending); });
}

base::Result<Accepted> TaskService::earlier(const task::Caller& caller, const task::AgentName& agent,
                                            const task::ContextId& context, const std::string& name) const {
  return earlier_send(store_, digest_of_name(caller, agent, context, name));
}

base::Result<task::Leaving> TaskService::leaving(task::TaskKey key, task::EventNumber before) const {
  // A run begins with its message, and perhaps a status before it.
  const auto events = store_.events(key, before, 2);
  if (!events) return fail(events.error());
  for (const task::Event& event : *events) {
    if (const auto* added = std::get_if<task::MessageAdded>(&event.body)) return added->leaving;
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

bool TaskService::is_abandoned(task::TaskKey key, task::EventNumber before) const {
  if (feed_.is_followed(key)) return false;
  const auto head = store_.head(key);
  // An A2A client comes back for its task by other means.
  if (!head || head->origin != task::Generation::none || task::is_stopped(head->state)) return false;
  const auto now = store_.last_stop(key, head->last_event);
  const auto rule = leaving(key, before);
  return now && *now == before && rule && *rule == task::Leaving::cancels;
}

void TaskService::wait(task::TaskKey task, task::EventNumber after, std::chrono::milliseconds bound,
                       Waits::Done done) {
  waits_.begin(task, after, bound, std::move(done));
}

void TaskService::wait(const Accepted& accepted, std::chrono::milliseconds bound, Waits::Done done) {
  const auto waiting = waits_.begin(accepted.key, accepted.before, bound, std::move(done));
  // The commit callback of a send misses no stop; a repeated send may come after the stop.
  if (!accepted.repeated) return;
  background_.run([this, key = accepted.key, before = accepted.before, waiting] {
    const auto stop = store_.first_stop(key, before);
    const task::StatusChanged* status = stop ? task::status_in(*stop) : nullptr;
    if (status != nullptr) waits_.end(waiting, Stop{status->status.state, stop->number});
  });
}

}  // namespace baton::engine
