// RunningTurn and its children: who is asked for, what the log says, what the executor gets.
#include <algorithm>

#include "engine/running_turn.h"
#include "engine/turn_ending.h"

namespace baton::engine {
namespace {

constexpr int kChildrenMax = 32;  // open at once, for each turn

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
    state.earlier = std::move(log.delegated);
    state.output.go_on(std::move(log.subagents), std::move(log.said));
  });
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
    return Begun::logged;
  });
  flush();
  return begun;
}

void RunningTurn::no_child(const std::string& agent, const std::string& id, const std::string& error) {
  state_.with([&](State& state) {
    --state.asked_for;
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
    state.output.add(child, services_.clock.now());
    return true;
  });
  if (taken) flush();
  return taken;
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
    bool goes = false, pauses = false, too_many = false;
    task::AgentName agent;
    int nth = 0;
  };
  const Next next = state_.with([&](State& state) {
    if (state.phase != Phase::running || state.outcome || state.cancel_requested) return Next{};
    const bool too_many = state.children >= kChildrenMax;
    state.delegated = true;
    ++state.asked_for;
    return Next{true, ++state.children == 1, too_many, state.head.agent, ++state.calls[request.id]};
  });
  if (next.too_many) return no_child(request.agent, request.id, "this turn has too many open child tasks");
  if (!next.goes) return;
  if (next.pauses && !services_.owner.pause(next.agent)) {
    return no_child(request.agent, request.id, "too many tasks wait for others; try again later");
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

// The turn that goes on is told of them, too.
void RunningTurn::log_childless(State& state) const {
  for (task::Subagent& none : std::exchange(state.childless, {})) {
    const task::Subagent end{none.id, none.name, task::Subagent::Phase::failed,
                             std::exchange(none.error, {})};
    state.output.add(std::move(none), services_.clock.now());
    state.output.add(end, services_.clock.now());
  }
}

}  // namespace baton::engine
