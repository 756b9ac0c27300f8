#include "engine/delegation.h"

namespace baton::engine {
namespace {

void deliver_error(const std::shared_ptr<TurnRun>& run, std::string id, std::string error) {
  run->deliver(agents::DelegateResult{std::move(id), std::nullopt, std::move(error)});
}

}  // namespace

bool Delegation::too_deep(const store::TaskHead& head) const {
  task::TaskKey parent = head.parent;
  for (int depth = 1; parent; ++depth) {
    if (depth >= options_.delegation_depth_max) return true;
    const auto next = store_.head(parent);
    if (!next) return false;
    parent = next->parent;
  }
  return false;
}

void Delegation::start(std::shared_ptr<TurnRun> run, agents::DelegateRequest request) {
  background_.run([this, run = std::move(run), request = std::move(request)]() mutable {
    const store::TaskHead head = run->head();
    if (too_deep(head)) {
      return deliver_error(
          run, std::move(request.id),
          "tasks may be delegated " + std::to_string(options_.delegation_depth_max) + " deep only");
    }
    task::Submission submission;
    submission.caller = head.caller;
    submission.agent = task::AgentName{request.agent};
    submission.task = request.task;
    submission.message = std::move(request.message);
    service_.submit_child(head.key, std::move(submission),
                          [this, run, id = std::move(request.id)](base::Result<Accepted> accepted) mutable {
                            if (!accepted)
                              return deliver_error(run, std::move(id), accepted.error().for_caller);
                            // Its parent may have ended before the child was stored.
                            if (run->is_over()) return cancel_late(accepted->key);
                            follow(run, std::move(id), *accepted);
                          });
  });
}

void Delegation::cancel_late(task::TaskKey child) {
  background_.run([this, child] { service_.cancel(child, [](const base::Result<task::TaskKey>&) {}); });
}

void Delegation::follow(std::shared_ptr<TurnRun> run, std::string id, const Accepted& child) {
  // Without a bound of its own: the parent's deadline is the child's.
  service_.wait(
      child.key, child.before, std::chrono::hours(24),
      [this, run = std::move(run), id = std::move(id), key = child.key](std::optional<Stop> stop) mutable {
        background_.run([this, run = std::move(run), id = std::move(id), key, stop]() mutable {
          if (!stop) return deliver_error(run, std::move(id), "the child task did not end");
          auto task = service_.read(key, task::Depth{std::nullopt, true});
          if (!task) return deliver_error(run, std::move(id), task.error().for_caller);
          run->deliver(agents::DelegateResult{std::move(id), std::move(*task), {}});
        });
      });
}

void Delegation::parent_turn_ended(const store::TaskHead& head) {
  if (task::is_terminal(head.state)) service_.cancel_children(head.key);
}

}  // namespace baton::engine
