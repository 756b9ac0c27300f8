#include "engine/scheduler.h"

#include <utility>

namespace baton::engine {

// Makes the change and starts what fits now. One lock covers both, so that nobody else takes a slot in
// between.
template <class F>
void Scheduler::change(F&& how) {
  const Starting starting = state_.with([&](State& state) {
    how(state);
    return what_fits(state);
  });
  for (const auto& [task, agent] : starting) start_(task, agent);
}

Scheduler::Scheduler(int slots, int queue_max, std::unordered_map<task::AgentName, int> limits, Start start)
    : slots_(slots), queue_max_(queue_max), start_(std::move(start)) {
  set_limits(std::move(limits));
}

void Scheduler::set_limits(std::unordered_map<task::AgentName, int> limits) {
  change([&](State& state) {
    state.limits = std::move(limits);
    for (const auto& [name, agent] : state.agents) unpark(state, name);
  });
}

int Scheduler::limit_of(const State& state, const task::AgentName& agent) {
  const auto found = state.limits.find(agent);
  return found == state.limits.end() ? 1 : found->second;
}

Scheduler::Room Scheduler::reserve(const Claim& claim, bool may_begin) {
  return state_.with([&](State& state) {
    if (state.closed) return Room::none;
    Agent& agent = state.agents[claim.agent];
    if (may_begin && agent.queued == 0 && agent.running < limit_of(state, claim.agent) &&
        state.running < slots_) {
      ++agent.running;
      ++state.running;
      return Room::slot;
    }
    if (static_cast<int>(state.queued.size()) + state.reserved >= queue_max_) return Room::none;
    if (claim.bounded) {
      const int most = caller_max_;
      int& places = state.places[claim.caller];
      if (most > 0 && places >= most) return Room::over_share;
      ++places;
    }
    ++state.reserved;
    return Room::queue;
  });
}

void Scheduler::give_back_place(State& state, const std::string& caller) {
  const auto found = state.places.find(caller);
  if (found != state.places.end() && --found->second <= 0) state.places.erase(found);
}

void Scheduler::release(const Claim& claim) {
  state_.with([&](State& state) {
    --state.reserved;
    if (claim.bounded) give_back_place(state, claim.caller);
  });
}

void Scheduler::put(State& state, task::TaskKey task, const Claim& claim) {
  if (!state.queued.emplace(task, claim.bounded).second) {
    if (claim.bounded) give_back_place(state, claim.caller);
    return;
  }
  Agent& agent = state.agents[claim.agent];
  ++agent.queued;
  Lane& lane = agent.lanes[claim.caller];
  lane.push_back(task);
  if (lane.size() > 1) return;
  state.rotation.emplace_back(claim.agent, claim.caller);
  ++agent.in_rotation;
}

void Scheduler::enqueue(task::TaskKey task, const Claim& claim) {
  change([&](State& state) {
    --state.reserved;
    put(state, task, claim);
  });
}

void Scheduler::enqueue_again(task::TaskKey task, const task::AgentName& agent, const std::string& caller) {
  change([&](State& state) { put(state, task, {agent, caller, false}); });
}

// Call when the task has left its lane.
void Scheduler::forget(State& state, Agent& agent, task::TaskKey task, const std::string& caller) {
  const auto queued = state.queued.find(task);
  if (queued->second) give_back_place(state, caller);
  state.queued.erase(queued);
  --agent.queued;
}

void Scheduler::remove(task::TaskKey task, const task::AgentName& name, const std::string& caller) {
  change([&](State& state) {
    if (!state.queued.contains(task)) return;
    Agent& agent = state.agents[name];
    Lane& lane = agent.lanes[caller];
    std::erase(lane, task);
    forget(state, agent, task, caller);
    if (!lane.empty()) return;
    agent.lanes.erase(caller);
    if (std::erase(agent.parked, caller) == 0) {
      std::erase(state.rotation, std::pair(name, caller));
      --agent.in_rotation;
    }
    unpark(state, name);
  });
}

void Scheduler::finished(const task::AgentName& agent) {
  change([&](State& state) {
    --state.running;
    --state.agents[agent].running;
    unpark(state, agent);
  });
}

void Scheduler::resumed(const task::AgentName& agent) {
  state_.with([&](State& state) {
    ++state.running;
    ++state.agents[agent].running;
  });
}

void Scheduler::close() {
  state_.with([](State& state) { state.closed = true; });
}

// Moves parked lanes to the rotation, as many as the agent has room for, the one that has waited longest
// first. So a lane is parked only while its agent is at its limit, or its other lanes will take it there.
void Scheduler::unpark(State& state, const task::AgentName& name) const {
  Agent& agent = state.agents[name];
  while (!agent.parked.empty() && agent.running + agent.in_rotation < limit_of(state, name)) {
    state.rotation.emplace_front(name, std::move(agent.parked.front()));
    agent.parked.pop_front();
    ++agent.in_rotation;
  }
}

Scheduler::Starting Scheduler::what_fits(State& state) const {
  Starting starting;
  while (!state.closed && state.running < slots_ && !state.rotation.empty()) {
    const auto [name, caller] = std::move(state.rotation.front());
    state.rotation.pop_front();
    Agent& agent = state.agents[name];
    --agent.in_rotation;
    if (agent.running >= limit_of(state, name)) {
      agent.parked.push_back(caller);
      continue;
    }
    Lane& lane = agent.lanes[caller];
    const task::TaskKey task = lane.front();
    lane.pop_front();
    forget(state, agent, task, caller);
    starting.emplace_back(task, name);
    ++agent.running;
    ++state.running;
    if (lane.empty()) {
      agent.lanes.erase(caller);
    } else {
      state.rotation.emplace_back(name, caller);
      ++agent.in_rotation;
    }
  }
  return starting;
}

Scheduler::Counts Scheduler::counts() const {
  return state_.with([](const State& state) {
    return Counts{static_cast<int>(state.queued.size()), state.running};
  });
}

}  // namespace baton::engine
