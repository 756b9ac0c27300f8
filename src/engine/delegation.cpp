#include "engine/delegation.h"

namespace baton::engine {
namespace {

using Phase = task::Subagent::Phase;

void deliver_error(const std::shared_ptr<TurnRun>& run, std::string id, std::string error) {
  run->deliver(agents::DelegateResult{std::move(id), std::nullopt, std::move(error)});
}

std::string error_in(const task::Status& status) {
  std::string text = status.message ? task::text_of(*status.message) : "";
  return text.empty() ? std::string(task::name_of(status.state)) : text;
}

}  // namespace

// The turn that waits for a child, the request's id, and the child's subagent in the parent's log. Shared by
// the callbacks of one delegation, which run one at a time.
struct Delegation::Delegated {
  std::shared_ptr<TurnRun> run;
  std::string id;
  bool goes_on = false;  // continues a child that was there before
  task::Subagent subagent;

  void show(Phase phase, std::string error = {}) {
    subagent.phase = phase;
    subagent.error = std::move(error);
    run->emit(subagent);
  }
  // Call before the turn gets the result, so that the turn's reaction comes afterwards in the log.
  void show_end(const task::Status& status) {
    if (!task::is_terminal(status.state)) return;
    if (status.state == task::State::completed) return show(Phase::finished);
    show(Phase::failed, error_in(status));
  }
  void fail(std::string error) {
    show(Phase::failed, error);
    deliver_error(run, std::move(id), std::move(error));
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

void Delegation::start(std::shared_ptr<TurnRun> run, agents::DelegateRequest request) {
  background_.run([this, run = std::move(run), request = std::move(request)]() mutable {
    const task::TaskHead head = run->head();
    if (too_deep(head)) {
      return deliver_error(
          run, std::move(request.id),
          "tasks may be delegated " + std::to_string(options_.delegation_depth_max) + " deep only");
    }
    const auto delegated = std::make_shared<Delegated>();
    delegated->run = std::move(run);
    delegated->id = std::move(request.id);
    delegated->goes_on = !request.task.empty();
    delegated->subagent.name = request.agent;
    task::Submission submission;
    submission.caller = head.caller;
    submission.agent = task::AgentName{request.agent};
    submission.task = request.task;
    submission.message = std::move(request.message);
    submission.waits_for = task::WaitsFor::outcome;
    service_.submit_child(head.key, std::move(submission),
                          [this, delegated](base::Result<Accepted> accepted) {
                            if (accepted) return stored(delegated, *accepted);
                            deliver_error(delegated->run, delegated->id, accepted.error().for_caller);
                          });
  });
}

void Delegation::stored(const DelegatedPtr& delegated, const Accepted& child) {
  TurnRun& run = *delegated->run;
  // The parent's turn may have ended before the child was stored.
  if (run.is_over()) return cancel_late(child.key);
  std::string& id = delegated->subagent.id;
  id = child.id.value;
  // The subagent of an earlier turn was closed with that turn: this one needs a new id.
  if (delegated->goes_on && !run.has_subagent(id)) id += "-" + std::to_string(run.head().turn.value);
  delegated->show(Phase::started);
  follow(delegated, child);
}

void Delegation::cancel_late(task::TaskKey child) {
  background_.run([this, child] { service_.cancel(child, [](const base::Result<task::TaskKey>&) {}); });
}

void Delegation::follow(const DelegatedPtr& delegated, const Accepted& child) {
  // A day is as good as unbounded: the deadline of the parent's turn applies.
  service_.wait(
      child.key, child.before, std::chrono::hours(24),
      [this, delegated, key = child.key](std::optional<Stop> stop) {
        background_.run([this, delegated, key, stop] {
          if (!stop) return delegated->fail("the child task did not end");
          auto task = service_.read(key, task::Depth{std::nullopt, true});
          if (!task) return delegated->fail(task.error().for_caller);
          delegated->show_end(task->status);
          delegated->run->deliver(agents::DelegateResult{std::move(delegated->id), std::move(*task), {}});
        });
      });
}

void Delegation::parent_turn_ended(const task::TaskHead& head) {
  // A broken-off turn makes new children when it runs again.
  const bool broken_off = head.turn_state == task::TurnState::queued && head.state == task::State::working;
  if (task::is_terminal(head.state) || broken_off) service_.cancel_children(head.key);
}

}  // namespace baton::engine
