#include "agents/plan/plan_memory.h"

#include <vector>

namespace baton::agents {

std::unique_ptr<PlanMemory> PlanMemories::take(Turn& turn) {
  auto memory = state_.with([&](State& state) -> std::unique_ptr<PlanMemory> {
    const auto found = state.places.find(turn.key);
    if (found == state.places.end()) return nullptr;
    auto kept = std::move(found->second->memory);
    state.bytes -= found->second->bytes;
    state.all.erase(found->second);
    state.places.erase(found);
    return kept;
  });
  // The task may have got another message since then, and after a power failure another task may have its
  // key.
  const bool is_of_message = memory != nullptr && memory->sources.message().id == turn.message.id &&
                             task::weight_of(memory->sources.message()) == task::weight_of(turn.message);
  // The last state may not have been stored, and another node may have begun the run with another plan.
  const bool is_known = is_of_message && memory->states > 0 && memory->states <= turn.states.size() &&
                        turn.states[memory->states - 1].text == memory->last_state;
  return is_known ? std::move(memory) : std::make_unique<PlanMemory>(std::move(turn.message));
}

void PlanMemories::keep(task::TaskKey run, std::unique_ptr<PlanMemory> memory) {
  const std::size_t bytes = memory->bytes();
  if (bytes > bytes_max_) return;
  std::vector<std::unique_ptr<PlanMemory>> left;  // destroyed outside the lock
  state_.with([&](State& state) {
    const auto before = state.places.find(run);
    if (before != state.places.end()) {
      state.bytes -= before->second->bytes;
      left.push_back(std::move(before->second->memory));
      state.all.erase(before->second);
    }
    state.all.push_front({run, std::move(memory), bytes});
    state.places[run] = state.all.begin();
    state.bytes += bytes;
    while (state.bytes > bytes_max_) {
      Kept& last = state.all.back();
      state.bytes -= last.bytes;
      left.push_back(std::move(last.memory));
      state.places.erase(last.run);
      state.all.pop_back();
    }
  });
}

}  // namespace baton::agents
