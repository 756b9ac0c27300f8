#include "engine/delegation.h"

#include <spdlog/spdlog.h>

#include "engine/send_digest.h"

namespace baton::engine {
namespace {

using Phase = task::Subagent::Phase;

constexpr int kEventsPage = 500;

std::string error_in(const task::Status& status) {
  std::string text = status.message ? task::text_of(*status.message) : "";
  return text.empty() ? std::string(task::name_of(status.state)) : text;
}

}  // namespace

// A child, who waits for it, and the request's id. Shared by the callbacks of one delegation, which run one
// at a time.
struct Delegation::Delegated {
  std::shared_ptr<RunningTurn> run;  // null after a restart
  task::TaskKey parent;
  task::EventNumber message;  // that the parent's turn is about
  bool goes_on = false;       // continues a child that was there before
  bool is_known = false;      // the log had it, and its stop, when the turn began
  // As it goes into the parent's log.
  task::Subagent subagent;

  // What the parent's log says once the child has this status.
  task::Subagent after(const task::Status& status) const {
    task::Subagent event{subagent.id, subagent.name, Phase::asks, {}};
    if (!task::is_terminal(status.state)) return event;
    const bool worked = status.state == task::State::completed;
    event.phase = worked ? Phase::finished : Phase::failed;
    if (!worked) event.error = error_in(status);
    return event;
  }
};

bool Delegation::too_deep(const task::TaskHead& head) const {
  task::TaskKey parent = head.parent;
  for (int depth = 1; parent; ++depth) {
    if (depth >= options_.delegation_depth_max) return true;
    const auto next = reader_.head(parent);
    if (!next) return false;
    parent = next->parent;
  }
  return false;
}

void Delegation::start(std::shared_ptr<RunningTurn> run, agents::DelegateRequest request, int nth) {
  background_.run([this, run = std::move(run), request = std::move(request), nth]() mutable {
    const task::TaskHead head = run->head();
    if (too_deep(head)) {
      return run->no_child(
          request.agent, request.id,
          "tasks may be delegated " + std::to_string(options_.delegation_depth_max) + " deep only");
    }
    const auto delegated = std::make_shared<Delegated>();
    delegated->run = std::move(run);
    delegated->parent = head.key;
    delegated->message = head.turn_message;
    delegated->goes_on = !request.task.empty();
    delegated->subagent.name = request.agent;
    delegated->subagent.call = std::move(request.id);
    task::Submission submission;
    submission.caller = head.caller;
    submission.agent = task::AgentName{request.agent};
    submission.task = request.task;
    submission.message = std::move(request.message);
    submission.waits_for = task::WaitsFor::outcome;
    const auto digest = digest_of_call(head, delegated->subagent.call, nth, submission);
    service_.submit_child(head.key, std::move(submission), digest,
                          [this, delegated](base::Result<Accepted> accepted) {
                            if (accepted) return stored(delegated, *accepted);
                            const task::Subagent& none = delegated->subagent;
                            delegated->run->no_child(none.name, none.call, accepted.error().for_caller);
                          });
  });
}

void Delegation::stored(const DelegatedPtr& delegated, const Accepted& child) {
  RunningTurn& run = *delegated->run;
  // The parent's turn may have ended before the child was stored. If it runs again, it asks for the child
  // again.
  if (run.is_over()) {
    const task::TaskHead head = run.head();
    const bool again = head.turn_state != task::TurnState::none && head.turn_message == delegated->message;
    return again ? void() : cancel_late(child.key);
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
  // The turn ends. If it runs again, it asks for the child again: followed twice, it would count twice.
  if (begun == RunningTurn::Begun::too_late) return;
  delegated->is_known = begun == RunningTurn::Begun::known;
  follow(delegated);
}

void Delegation::cancel_late(task::TaskKey child) {
  background_.run([this, child] { service_.cancel(child, [](const base::Result<task::TaskKey>&) {}); });
}

void Delegation::follow(const DelegatedPtr& delegated) {
  const task::Subagent& child = delegated->subagent;
  // A day is as good as unbounded: it only bounds how long a wait is kept whose task is gone.
  service_.wait(child.task, child.after, std::chrono::hours(24),
                [this, delegated](const std::optional<Stop>& stop) {
                  background_.run([this, delegated, stop] { stop ? settle(delegated) : follow(delegated); });
                });
}

// The child has stopped.
void Delegation::settle(const DelegatedPtr& delegated) {
  const task::Subagent& child = delegated->subagent;
  RunningTurn* const run = delegated->run.get();
  auto task = service_.read(child.task, task::Depth{std::nullopt, true});
  if (!task) {
    spdlog::warn("a child's result cannot be read, trying again: {}", task.error().for_log);
    background_.timers().after(options_.disk_retry, [this, delegated] { follow(delegated); });
    return;
  }
  const task::Subagent event = delegated->after(task->status);
  // First, so that the turn's reaction comes afterwards in the log.
  const bool logged = delegated->is_known || (run != nullptr && run->settle(event));
  if (!logged) return turns_.settle(delegated->parent, delegated->message, event);
  run->deliver(agents::DelegateResult{child.call, std::move(*task), {}});
}

base::Result<void> Delegation::resume(const task::TaskHead& waiting) {
  const auto log = read_turn_log(
      waiting, [&](task::EventNumber after) { return reader_.events(waiting.key, after, kEventsPage); });
  if (!log) return base::fail(log.error());
  for (task::Subagent& child : log->subagents.awaited()) {
    const auto delegated = std::make_shared<Delegated>();
    delegated->parent = waiting.key;
    delegated->message = waiting.turn_message;
    delegated->subagent = std::move(child);
    follow(delegated);
  }
  return {};
}

void Delegation::turn_over(const task::TaskHead& head) {
  if (task::is_terminal(head.state)) service_.cancel_children(head.key);
}

}  // namespace baton::engine
