// TaskService: where runs begin, also for who repeats a send, and what becomes of those whose client has
// left.
#include <spdlog/fmt/fmt.h>

#include "engine/message_checks.h"
#include "engine/send_digest.h"
#include "engine/task_service.h"

namespace baton::engine {
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
