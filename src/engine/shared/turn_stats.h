// TurnStats: totals of each agent's turns since the start.
//
// Threads: any. Counters are relaxed atomics, found by agent under a lock that is only held for a look-up.
// Bounded: agents at URLs count as one, and so do all after the first kAgentsMax.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "base/histogram.h"
#include "task/event.h"
#include "task/head.h"
#include "task/ids.h"
#include "task/state.h"

namespace baton::engine {

class TurnStats {
 public:
  static constexpr std::size_t kStates = 8;
  static constexpr std::size_t kAgentsMax = 1'000;
  static constexpr std::string_view kOthers = "~others";
  using States = std::array<std::atomic<std::int64_t>, kStates>;

  // One agent's. Lives as long as the TurnStats.
  struct Agent {
    base::Histogram turn_time{base::kTurnBounds};  // from a turn's beginning to its end
    States statuses{};                             // tasks' statuses by their state
    States turns{};                                // turns that left their task in this state
    std::atomic<std::int64_t> turns_going_on{0};   // turns after which the task waits or has another turn
    std::atomic<std::int64_t> tokens{0};           // of models, as reported by agents
  };
  Agent& of(const task::AgentName& agent);

  // Counts events of a task at this agent, which must be durable.
  void note(const task::AgentName& agent, const std::vector<task::EventPtr>& events);

  // Counts a turn of this task that is over, once its end is durable.
  void note_turn(const task::TaskHead& head, base::Histogram::Time took);

  // All agents that have counters, by name.
  std::vector<std::pair<std::string, const Agent*>> all() const;
  // How many statuses with this state were stored, at all agents.
  std::int64_t statuses(task::State state) const;

 private:
  base::Guarded<std::unordered_map<std::string, std::unique_ptr<Agent>>> agents_;
};

// The state and totals of an agent's turns, for operators. The arrays are indexed by task::State.
struct AgentTurns {
  std::string agent;
  int running = 0;
  int queued = 0;
  base::Histogram::Time oldest_queued{0};  // how long its oldest queued turn has waited
  // Since the start, as in TurnStats::Agent.
  std::array<std::int64_t, TurnStats::kStates> statuses{}, turns{};
  std::int64_t turns_going_on = 0;
  std::int64_t tokens = 0;
  base::Histogram::Snapshot turn_time;
  base::Histogram::Snapshot queue_time;  // from when a turn could have begun, but for a slot, until it began
};

}  // namespace baton::engine
