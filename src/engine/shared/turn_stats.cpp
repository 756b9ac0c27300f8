#include "engine/shared/turn_stats.h"

#include <algorithm>

#include "agents/cards/catalogue.h"
#include "agents/delegate_urls.h"

namespace baton::engine {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

std::int64_t tokens_of(const task::EventBody& body) {
  if (const auto* usage = std::get_if<task::Usage>(&body)) return usage->tokens;
  const auto* elsewhere = std::get_if<task::ExecutorState>(&body);
  return elsewhere ? elsewhere->used.tokens : 0;
}

}  // namespace

TurnStats::Agent& TurnStats::of(const task::AgentName& agent) {
  const std::string& name = agent.value;
  return *agents_.with([&](auto& agents) {
    const auto found = agents.find(name);
    if (found != agents.end()) return found->second.get();
    const bool is_full = agents.size() >= kAgentsMax;
    const std::string_view shown = agents::is_agent_url(name) ? agents::kElsewhereAgent
                                   : is_full                  ? kOthers
                                                              : std::string_view(name);
    auto& place = agents[std::string(shown)];
    if (!place) place = std::make_unique<Agent>();
    return place.get();
  });
}

void TurnStats::note(const task::AgentName& agent, const std::vector<task::EventPtr>& events) {
  Agent* noted = nullptr;
  for (const task::EventPtr& event : events) {
    const task::StatusChanged* change = task::status_in(*event);
    const std::int64_t tokens = change ? 0 : tokens_of(event->body);
    if (!change && tokens == 0) continue;
    if (noted == nullptr) noted = &of(agent);
    if (change) noted->statuses[static_cast<std::size_t>(change->status.state)].fetch_add(1, kRelaxed);
    noted->tokens.fetch_add(tokens, kRelaxed);
  }
}

void TurnStats::note_turn(const task::TaskHead& head, base::Histogram::Time took) {
  if (head.turn_state == task::TurnState::running) return;  // it is broken off, and runs again
  Agent& agent = of(head.agent);
  agent.turn_time.observe(took);
  const bool goes_on = head.turn_state != task::TurnState::none;
  auto& turns = goes_on ? agent.turns_going_on : agent.turns[static_cast<std::size_t>(head.state)];
  turns.fetch_add(1, kRelaxed);
}

std::vector<std::pair<std::string, const TurnStats::Agent*>> TurnStats::all() const {
  std::vector<std::pair<std::string, const Agent*>> all;
  agents_.with([&](const auto& agents) {
    for (const auto& [name, agent] : agents) all.emplace_back(name, agent.get());
  });
  std::ranges::sort(all);
  return all;
}

std::int64_t TurnStats::statuses(task::State state) const {
  std::int64_t sum = 0;
  for (const auto& [name, agent] : all()) {
    sum += agent->statuses[static_cast<std::size_t>(state)].load(kRelaxed);
  }
  return sum;
}

}  // namespace baton::engine
