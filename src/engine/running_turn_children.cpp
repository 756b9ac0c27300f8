// RunningTurn and its children: who is asked for, what the log says, what the executor gets.
#include <algorithm>

#include "engine/running_turn.h"
#include "engine/turn_ending.h"

namespace baton::engine {

namespace {

// A detached child is no longer its parent's work once it is there.
task::Subagent handed_over(const task::Subagent& child) {
  task::Subagent end{child.id, child.name, task::Subagent::Phase::finished, {}};
  end.is_detached = true;
  return end;
}

}  // namespace

bool RunningTurn::may_have_children() const {
  return state_.with([](const State& state) {
    return state.delegated || state.head.turn.value > 1 || state.head.attempt > 1;
  });
}

std::string RunningTurn::open_subagent(task::TaskKey child) const {
  return state_.with([&](const State& state) { return state.output.open_subagent(child); });
}

void RunningTurn::go_on(TurnLog log) {
  state_.with([&](State& state) {
    state.knows_log = true;
    state.awaited_at_begin = static_cast<int>(log.subagents.awaited().size());
    state.earlier = std::move(log.delegated);
    state.known_calls = std::move(log.own_calls);
    state.output.go_on(std::move(log.subagents), std::move(log.said));
    for (task::Subagent& child : std::exchange(state.early, {})) {
      state.output.add(std::move(child), services_.clock.now());
    }
  });
}

// Whether anything would end the wait. Where there are no children to do it, they do not count: one that was
// heard of a moment ago must not.
bool RunningTurn::may_wait(const State& state, agents::Waits& waits) {
  if (state.delegated || state.awaited_at_begin > 0) return true;
  waits.open_max = -1;
  return waits.until.has_value();
}

// A turn that has ended by itself takes no more. One that waits must not lose what comes until its end is
// decided; after that, the waiting task takes it.
bool RunningTurn::may_log_children(const State& state) {
  if (state.phase == Phase::over) return false;
  return !state.outcome || (runs_on(*state.outcome) && !state.ending);
}

RunningTurn::Begun RunningTurn::begun(const task::Subagent& child) {
  const Begun begun = state_.with([&](State& state) {
    --state.asked_for;
    const bool known = std::any_of(
        state.earlier.begin(), state.earlier.end(),
        [&](const task::Subagent& one) { return one.task == child.task && one.after == child.after; });
    if (known) return Begun::known;
    if (!may_log_children(state)) return Begun::too_late;
    state.output.add(child, services_.clock.now());
    if (child.is_detached) state.output.add(handed_over(child), services_.clock.now());
    return Begun::logged;
  });
  flush();
  return begun;
}

void RunningTurn::no_child(const std::string& agent, const std::string& id, const std::string& error,
                           bool is_counted) {
  state_.with([&](State& state) {
    --state.asked_for;
    if (is_counted) --state.taken.children;
    task::Subagent none;
    none.id = state.head.id.value + "-d" + std::to_string(state.head.turn.value) + "." +
              std::to_string(state.childless.size() + 1);
    none.name = agent;
    none.error = error;
    none.call = id;
    state.childless.push_back(std::move(none));
  });
  deliver({id, std::nullopt, error});
  flush();
}

bool RunningTurn::settle(const task::Subagent& child) {
  const bool taken = state_.with([&](State& state) {
    if (!may_log_children(state)) return false;
    if (!state.knows_log) {
      state.early.push_back(child);
      if (budget_) count_end(state, child);
      return true;
    }
    state.output.add(child, services_.clock.now());
    if (budget_) count_end(state, child);
    return true;
  });
  if (taken) flush();
  return taken;
}

void RunningTurn::questions_changed(const task::TaskHead* now) {
  if (now != nullptr) {
    state_.with([&](State& state) {
      if (state.phase != Phase::over && now->version > state.head.version) state.head = *now;
    });
    heed_deadline();
  }
  flush();
}

void RunningTurn::deliver(agents::DelegateResult result) {
  struct Next {
    bool resumes = false;
    task::AgentName agent;
  };
  const Next next = state_.with([](State& state) {
    if (state.phase == Phase::over) return Next{};
    const bool last = --state.children == 0;
    return Next{last && std::exchange(state.slot_released, false), state.head.agent};
  });
  if (next.resumes) services_.owner.resume(next.agent);
  tell(std::move(result));
}

// Passes a result to the executor, or keeps it until one is attached.
void RunningTurn::tell(agents::DelegateResult result) {
  const auto running = state_.with([&](State& state) {
    const bool starts = state.phase != Phase::over && !state.outcome && !state.running;
    if (starts) state.undelivered.push_back(std::move(result));
    return state.running;
  });
  if (running) running->deliver(std::move(result));
}

void RunningTurn::delegate(agents::DelegateRequest request) {
  struct Next {
    bool goes = false, pauses = false;
    std::string refusal;
    task::AgentName agent;
    int nth = 0;
  };
  const Next next = state_.with([&](State& state) {
    // A plan that has not heard of the cancel yet must hear that its step has not begun, to undo the others.
    const bool is_unaware = state.cancel_requested && !(undoes_ && state.is_undoing);
    if (state.phase != Phase::running || state.outcome || (is_unaware && !undoes_)) return Next{};
    const int nth = ++state.calls[request.id];
    const bool too_many = state.children + state.awaited_at_begin >= children_max_;
    // Hidden agents ask a plan's own questions.
    const bool is_hidden = request.agent.starts_with('~') && !is_short_;
    std::string refusal = is_hidden    ? "there is no agent \"" + request.agent + "\""
                          : is_unaware ? "the task is being canceled"
                          : too_many   ? "this turn has too many open child tasks"
                                       : admit(state, request, nth);
    state.delegated = true;
    ++state.asked_for;
    const bool pauses = ++state.children == 1 && !is_short_;
    return Next{true, pauses, std::move(refusal), state.head.agent, nth};
  });
  if (!next.refusal.empty()) return no_child(request.agent, request.id, next.refusal, false);
  if (!next.goes) return;
  if (next.pauses && !services_.owner.pause(next.agent)) {
    return no_child(request.agent, request.id, "too many tasks wait for others; try again later",
                    asks_anew(request, next.nth));
  }
  if (next.pauses) {
    const bool late = state_.with([](State& state) {
      state.slot_released = state.phase != Phase::over;
      return !state.slot_released;
    });
    if (late)
      return services_.owner.resume(next.agent);  // the turn ended meanwhile; its end returns the slot
  }
  services_.owner.delegate(shared_from_this(), std::move(request), next.nth);
}

// Not before the log has why: a turn that begins again after a crash would find a child that has been
// canceled by nobody.
void RunningTurn::cancel_child(const std::string& call) {
  state_.with([&](State& state) {
    const auto named = std::ranges::find(state.earlier, call, &task::Subagent::call);
    if (named != state.earlier.end() && named->task) state.unneeded.push_back(named->task);
  });
  cancel_unneeded();
}

void RunningTurn::cancel_unneeded() {
  const auto unneeded = state_.with([](State& state) {
    const bool is_stored = !state.posted && state.output.empty();
    return is_stored ? std::exchange(state.unneeded, {}) : std::vector<task::TaskKey>();
  });
  for (const task::TaskKey child : unneeded) services_.owner.cancel_child(child);
}

void RunningTurn::inherit(Lineage lineage) {
  state_.with([&](State& state) { state.lineage = std::move(lineage); });
}

RunningTurn::Lineage RunningTurn::lineage() const {
  return state_.with([](const State& state) { return state.lineage; });
}

// The turn that goes on is told of them, too.
void RunningTurn::log_childless(State& state) const {
  for (task::Subagent& none : std::exchange(state.childless, {})) {
    const task::Subagent end{none.id, none.name, task::Subagent::Phase::failed,
                             std::exchange(none.error, {})};
    state.output.add(std::move(none), services_.clock.now());
    state.output.add(end, services_.clock.now());
  }
}

// Whether the task is to show another question, or none.
bool RunningTurn::question_turns_over() const {
  const bool asks = state_.with([](const State& state) { return task::is_waiting(state.head.state); });
  if (!asks && services_.questions.empty()) return false;
  return static_cast<bool>(services_.questions.turnover(head()));
}

}  // namespace baton::engine
