// TurnRunner and the turns that wait: what ends the wait, and what follows.
#include <spdlog/spdlog.h>

#include <algorithm>

#include "engine/turn_runner.h"

namespace baton::engine {

// Returns why the task may not go on; empty: it may.
std::string TurnRunner::tell_budget(const task::TaskHead& head, const agents::Agent& agent,
                                    agents::Turn& turn) const {
  if (head.budget) turn.budget = *head.budget;
  // Another server has its own default.
  if (!turn.budget.children && !agent.settings.acts_outside())
    turn.budget.children = options_.delegation_children_max;
  turn.taken = {head.tokens, head.children};
  const base::Timestamp now = clock_.now();
  if (turn.budget.until) turn.budget.wall = std::max(*turn.budget.until - now, base::Duration(0));
  return task::excess(turn.budget, turn.taken, now);
}

void TurnRunner::in_background(const std::shared_ptr<RunningTurn>& run, std::function<void()> work) {
  if (!run->is_plan()) return void(background_.run(std::move(work)));
  background_.run_plan(std::string(task::account_of(run->head().caller)), std::move(work));
}

// A store that is away is waited for, until the turn's deadline.
void TurnRunner::not_read(const std::shared_ptr<RunningTurn>& run, const base::Error& error) {
  if (error.code != base::ErrorCode::unavailable) {
    spdlog::error("{} its turn cannot be read: {}", facts_of(run->head()), error.for_log);
    run->attach(nullptr);
    return run->finish(agents::Failed{"the turn could not be read from the store"});
  }
  spdlog::warn("{} its turn cannot be read, trying again: {}", facts_of(run->head()), error.for_log);
  background_.timers().after(options_.disk_retry, [this, run] {
    if (run->is_over()) return;
    in_background(run, [this, run] { start(run, {}); });
  });
}

// Whether the task's running turn works on the same and has taken it.
bool TurnRunner::settled_by_run(task::TaskKey task, task::EventNumber message, const task::Subagent& child) {
  const auto run = running_turn(task);
  return run && run->head().turn_message == message && run->settle(child);
}

void TurnRunner::settle(task::TaskKey task, task::EventNumber message, const task::Subagent& child) {
  if (settled_by_run(task, message, child)) return;
  Decision decision;
  decision.task = task;
  decision.decide = [this, message, child](const store::TaskRow& now) -> base::Result<task::Change> {
    const task::TaskHead& head = now.head;
    if (!is_ours(now)) return base::fail(base::ErrorCode::not_found, "another node waits for this");
    // The turn takes no more, but its end is not stored: it may have been refused.
    if (head.turn_state == task::TurnState::running && head.turn_message == message) {
      return base::fail(base::ErrorCode::conflict, "the task does not wait yet");
    }
    if (head.turn_state == task::TurnState::none || head.turn_message != message || head.awaited == 0) {
      return base::fail(base::ErrorCode::not_found, "the task does not wait for this");
    }
    task::Change change;
    change.task = head.key;
    change.expected = head.version;
    change.events.push_back(child);
    change.turn.emplace();
    turn_over(change, questions_.turnover(head), clock_.now());
    return change;
  };
  decision.committed = [this](const store::Committed& committed) { go_on(committed.head); };
  decision.done = [this, task, message, child](const base::Result<Written>& written) {
    if (written || written.error().code == base::ErrorCode::not_found ||
        written.error().code == base::ErrorCode::task_not_found) {
      return;
    }
    // Its turn has begun just now.
    if (written.error().code == base::ErrorCode::conflict && settled_by_run(task, message, child)) return;
    if (written.error().code != base::ErrorCode::conflict) {
      spdlog::warn("a child's end cannot be stored, trying again: {}", written.error().for_log);
    }
    background_.timers().after(options_.disk_retry,
                               [this, task, message, child] { settle(task, message, child); });
  };
  inbox_.post(std::move(decision));
}

Scheduler::Claim TurnRunner::claim_of(const task::TaskHead& head) const {
  return {slots_of(head.agent), std::string(task::account_of(head.caller)),
          head.parent ? Scheduler::Origin::child : Scheduler::Origin::earlier};
}

void TurnRunner::go_on(const task::TaskHead& head) {
  if (head.turn_state == task::TurnState::waiting && head.waits.until) {
    return wakes_.at(*head.waits.until, head.key, head.turn, std::string(task::account_of(head.caller)));
  }
  if (head.turn_state != task::TurnState::queued) return;
  wakes_.forget(head.key);
  quarantine_.release(head.key);
  scheduler_.enqueue_again(head.key, claim_of(head));
}

void TurnRunner::withdraw(const task::TaskHead& head) {
  wakes_.forget(head.key);
  scheduler_.remove(head.key, claim_of(head));
  clear_suspicion(head.key);
}

// The time has come that this turn waits for, unless it has gone on already.
void TurnRunner::wake(task::TaskKey task, task::TurnNumber turn) {
  Decision decision;
  decision.task = task;
  decision.answers = false;
  decision.decide = [this, turn](const store::TaskRow& now) -> base::Result<task::Change> {
    const task::TaskHead& head = now.head;
    const bool waits = head.turn_state == task::TurnState::waiting && head.turn == turn && is_ours(now);
    if (!waits || !head.waits.until) {
      return base::fail(base::ErrorCode::not_found, "the turn waits no more");
    }
    task::Change change;
    change.task = head.key;
    change.expected = head.version;
    change.turn.emplace();
    change.turn->state = task::TurnState::queued;
    return change;
  };
  decision.committed = [this](const store::Committed& committed) { go_on(committed.head); };
  decision.done = [this, task, turn](const base::Result<Written>& written) {
    if (written || written.error().code == base::ErrorCode::not_found ||
        written.error().code == base::ErrorCode::task_not_found) {
      return;
    }
    spdlog::warn("a turn whose time has come cannot be queued, trying again: {}", written.error().for_log);
    background_.timers().after(options_.disk_retry, [this, task, turn] { wake(task, turn); });
  };
  inbox_.post(std::move(decision));
}

// A turn that waits for children holds no slot, but it holds the agent's process: so there is a bound. It is
// not stored as waiting, since it may go on talking meanwhile, and the store takes only a running turn's
// output.
bool TurnRunner::pause(const task::AgentName& agent) {
  if (++paused_ > options_.slots) {
    --paused_;
    return false;
  }
  scheduler_.finished(slots_of(agent));
  return true;
}

void TurnRunner::resume(const task::AgentName& agent) {
  --paused_;
  scheduler_.resumed(slots_of(agent));
}

}  // namespace baton::engine
