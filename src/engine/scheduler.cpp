#include "engine/scheduler.h"

#include <utility>

namespace baton::engine {

Scheduler::Scheduler(int slots, int queue_max, std::unordered_map<task::AgentName, int> limits, Start start)
    : slots_(slots), queue_max_(queue_max), limits_(std::move(limits)), start_(std::move(start)) {}

int Scheduler::limit_of(const task::AgentName& agent) const {
  const auto found = limits_.find(agent);
  return found == limits_.end() ? 1 : found->second;
}

// Makes the change, and with it starts what fits now: in between nobody can take a slot that is waited for.
template <class F>
void Scheduler::change(F&& how) {
  const Starting starting = state_.with([&](State& state) {
    how(state);
    return what_fits(state);
  });
  for (const auto& [task, agent] : starting) start_(task, agent);
}

Scheduler::Room Scheduler::reserve(const task::AgentName& agent, bool may_begin) {
  return state_.with([&](State& state) {
    if (state.closed) return Room::none;
    Lane& lane = state.lanes[agent];
    if (may_begin && lane.queue.empty() && lane.running < limit_of(agent) && state.running < slots_) {
      ++lane.running;
      ++state.running;
      return Room::slot;
    }
    if (static_cast<int>(state.queued.size()) + state.reserved >= queue_max_) return Room::none;
    ++state.reserved;
    return Room::queue;
  });
}

void Scheduler::release() {
  state_.with([](State& state) { --state.reserved; });
}

void Scheduler::put(State& state, task::TaskKey task, const task::AgentName& agent) {
  if (!state.queued.insert(task).second) return;
  Lane& lane = state.lanes[agent];
  lane.queue.push_back(task);
  if (!std::exchange(lane.in_rotation, true)) state.rotation.push_back(agent);
}

void Scheduler::enqueue(task::TaskKey task, const task::AgentName& agent) {
  change([&](State& state) {
    --state.reserved;
    put(state, task, agent);
  });
}

void Scheduler::enqueue_again(task::TaskKey task, const task::AgentName& agent) {
  change([&](State& state) { put(state, task, agent); });
}

void Scheduler::remove(task::TaskKey task, const task::AgentName& agent) {
  state_.with([&](State& state) {
    if (state.queued.erase(task) == 0) return;
    Lane& lane = state.lanes[agent];
    std::erase(lane.queue, task);
    if (!lane.queue.empty()) return;
    lane.in_rotation = false;
    std::erase(state.rotation, agent);
  });
}

void Scheduler::finished(const task::AgentName& agent) {
  change([&](State& state) {
    --state.running;
    --state.lanes[agent].running;
  });
}

void Scheduler::resumed(const task::AgentName& agent) {
  state_.with([&](State& state) {
    ++state.running;
    ++state.lanes[agent].running;
  });
}

void Scheduler::close() {
  state_.with([](State& state) { state.closed = true; });
}

Scheduler::Starting Scheduler::what_fits(State& state) const {
  Starting starting;
  // One round after another over the agents that have something queued, until a whole round starts nothing.
  std::size_t passed = 0;
  while (!state.closed && state.running < slots_ && passed < state.rotation.size()) {
    const task::AgentName agent = std::move(state.rotation.front());
    state.rotation.pop_front();
    Lane& lane = state.lanes[agent];
    if (lane.running >= limit_of(agent)) {
      state.rotation.push_back(agent);
      ++passed;
      continue;
    }
    starting.emplace_back(lane.queue.front(), agent);
    state.queued.erase(lane.queue.front());
    lane.queue.pop_front();
    ++lane.running;
    ++state.running;
    passed = 0;
    if (lane.queue.empty()) {
      lane.in_rotation = false;
    } else {
      state.rotation.push_back(agent);
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
