#include "engine/scheduling/scheduler.h"

#include <algorithm>
#include <utility>

namespace baton::engine {

namespace {

// The name of the lane that a turn stands in: its caller's, or that of the caller's children.
std::string lane_of(const Scheduler::RoomRequest& request) {
  return request.origin == Scheduler::Origin::child ? request.caller + '\n' : request.caller;
}

}  // namespace

// Makes the change and starts the turns that fit then. One lock covers both, so that no other thread takes a
// slot in between.
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

void Scheduler::set_limit(const task::AgentName& agent, int turns) {
  change([&](State& state) {
    if (turns > 0) {
      state.own_limits[agent] = turns;
    } else {
      state.own_limits.erase(agent);
    }
    unpark(state, agent);
  });
}

void Scheduler::set_paused(const task::AgentName& agent, bool paused) {
  change([&](State& state) {
    if (paused) {
      state.paused.insert(agent);
    } else {
      state.paused.erase(agent);
      unpark(state, agent);
    }
  });
}

int Scheduler::limit_of(const State& state, const task::AgentName& agent) {
  if (state.paused.contains(agent)) return 0;
  if (const auto own = state.own_limits.find(agent); own != state.own_limits.end()) return own->second;
  const auto found = state.limits.find(agent);
  return found == state.limits.end() ? 1 : found->second;
}

Scheduler::Room Scheduler::reserve(const RoomRequest& request, bool may_begin) {
  return state_.with([&](State& state) {
    if (state.closed) return Room::closed;
    Agent& agent = state.agents[request.agent];
    if (may_begin && agent.queued == 0 && agent.running < limit_of(state, request.agent) &&
        state.running < slots_) {
      ++agent.running;
      ++state.running;
      agent.waited.observe(Time(0));
      return Room::slot;
    }
    if (request.origin == Origin::child) return Room::queue;
    if (state.places >= queue_max_) return Room::none;
    const bool is_paused = state.paused.contains(request.agent);
    if (is_paused && agent.queued >= std::max(queue_max_ / 2, 1)) return Room::none;
    if (request.origin == Origin::send) {
      const int most = caller_max_;
      int& share = state.shares[request.caller];
      if (most > 0 && share >= most) return Room::over_share;
      ++share;
    }
    ++state.places;
    return Room::queue;
  });
}

void Scheduler::give_back_place(State& state, Origin origin, const std::string& caller) {
  if (origin != Origin::child) --state.places;
  if (origin != Origin::send) return;
  const auto found = state.shares.find(caller);
  if (found != state.shares.end() && --found->second <= 0) state.shares.erase(found);
}

void Scheduler::release(const RoomRequest& request) {
  state_.with([&](State& state) { give_back_place(state, request.origin, request.caller); });
}

// The turn's place is already reserved.
void Scheduler::put(State& state, task::TaskKey task, const RoomRequest& request) {
  if (!state.queued.try_emplace(task, Queued{request.origin, base::SteadyTime::now()}).second) {
    return give_back_place(state, request.origin, request.caller);
  }
  Agent& agent = state.agents[request.agent];
  ++agent.queued;
  std::string name = lane_of(request);
  Lane& lane = agent.lanes[name];
  lane.push_back(task);
  if (lane.size() > 1) return;
  state.rotation.emplace_back(request.agent, std::move(name));
  ++agent.in_rotation;
}

void Scheduler::enqueue(task::TaskKey task, const RoomRequest& request) {
  change([&](State& state) { put(state, task, request); });
}

void Scheduler::enqueue_again(task::TaskKey task, const RoomRequest& request) {
  change([&](State& state) {
    if (request.origin != Origin::child) ++state.places;
    put(state, task, request);
  });
}

// Call when the task has left its lane.
void Scheduler::forget(State& state, Agent& agent, task::TaskKey task, const std::string& lane) {
  const auto queued = state.queued.find(task);
  // The turns that count for a caller are in the lane of the caller's name.
  give_back_place(state, queued->second.origin, lane);
  agent.waited.observe(base::SteadyTime::now() - queued->second.since);
  state.queued.erase(queued);
  --agent.queued;
}

void Scheduler::remove(task::TaskKey task, const RoomRequest& request) {
  change([&](State& state) {
    if (!state.queued.contains(task)) return;
    const std::string name = lane_of(request);
    Agent& agent = state.agents[request.agent];
    Lane& lane = agent.lanes[name];
    std::erase(lane, task);
    forget(state, agent, task, name);
    if (!lane.empty()) return;
    agent.lanes.erase(name);
    if (std::erase(agent.parked, name) == 0) {
      std::erase(state.rotation, std::pair(request.agent, name));
      --agent.in_rotation;
    }
    unpark(state, request.agent);
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
    const auto [name, lane_name] = std::move(state.rotation.front());
    state.rotation.pop_front();
    Agent& agent = state.agents[name];
    --agent.in_rotation;
    if (agent.running >= limit_of(state, name)) {
      agent.parked.push_back(lane_name);
      continue;
    }
    Lane& lane = agent.lanes[lane_name];
    const task::TaskKey task = lane.front();
    lane.pop_front();
    forget(state, agent, task, lane_name);
    starting.emplace_back(task, name);
    ++agent.running;
    ++state.running;
    if (lane.empty()) {
      agent.lanes.erase(lane_name);
    } else {
      state.rotation.emplace_back(name, lane_name);
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

std::vector<std::pair<task::AgentName, int>> Scheduler::room() const {
  return state_.with([&](const State& state) {
    std::vector<std::pair<task::AgentName, int>> room;
    const int slots = slots_ - state.running;
    if (state.closed || !state.rotation.empty()) return room;
    for (const auto& [name, most] : state.limits) {
      const auto found = state.agents.find(name);
      const bool has_turns = found != state.agents.end();
      if (has_turns && found->second.queued > 0) continue;
      const int more = std::min(limit_of(state, name) - (has_turns ? found->second.running : 0), slots);
      if (more > 0) room.emplace_back(name, more);
    }
    return room;
  });
}

std::vector<std::pair<task::AgentName, Scheduler::AgentCounts>> Scheduler::agents() const {
  std::vector<std::pair<task::AgentName, AgentCounts>> all;
  const auto now = base::SteadyTime::now();
  state_.with([&](const State& state) {
    for (const auto& [name, agent] : state.agents) {
      AgentCounts& counts = all.emplace_back(name, AgentCounts()).second;
      counts.queued = agent.queued;
      counts.running = agent.running;
      counts.waited = agent.waited.snapshot();
      for (const auto& [caller, lane] : agent.lanes) {
        counts.oldest = std::max<Time>(counts.oldest, now - state.queued.at(lane.front()).since);
      }
    }
  });
  return all;
}

}  // namespace baton::engine
