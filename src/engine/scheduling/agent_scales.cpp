#include "engine/scheduling/agent_scales.h"

#include <vector>

namespace baton::engine {

void AgentScales::set(const task::AgentName& agent, std::optional<int> workers,
                      std::optional<int> concurrency) {
  scales_.with([&](auto& scales) {
    Scale& scale = scales[agent];
    scale.workers = workers.value_or(scale.workers);
    scale.concurrency = concurrency.value_or(scale.concurrency);
    ++scale.changes;
  });
  apply(agent);
  if (concurrency) scheduler_.set_limit(agent, *concurrency);
}

bool AgentScales::has_workers(const task::AgentName& agent) const {
  const agents::Agent* known = catalogue_.find(agent);
  return known != nullptr && known->settings.keeps_workers();
}

void AgentScales::apply() {
  std::vector<task::AgentName> scaled;
  scales_.with([&](const auto& scales) {
    for (const auto& [agent, scale] : scales) scaled.push_back(agent);
  });
  for (const task::AgentName& agent : scaled) apply(agent);
}

std::optional<AgentScales::Scale> AgentScales::scale_of(const task::AgentName& agent) const {
  return scales_.with([&](const auto& scales) -> std::optional<Scale> {
    const auto found = scales.find(agent);
    return found == scales.end() ? std::nullopt : std::optional(found->second);
  });
}

void AgentScales::apply(const task::AgentName& agent) const {
  const agents::Agent* known = catalogue_.find(agent);
  if (known == nullptr || known->executor == nullptr) return;
  // Repeats if another thread has changed the scale meanwhile, so that the executor ends up with the current
  // one.
  for (auto scale = scale_of(agent); scale;) {
    const agents::AgentSettings& card = known->settings;
    known->executor->scale(scale->workers > 0 ? scale->workers : card.workers,
                           scale->concurrency > 0 ? scale->concurrency : card.concurrency);
    const auto now = scale_of(agent);
    if (now && now->changes == scale->changes) return;
    scale = now;
  }
}

}  // namespace baton::engine
