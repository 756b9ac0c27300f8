// AgentScales: how many processes an agent keeps, and how many turns it runs at once, where an operator has
// overridden its card.
//
// Threads: any. Nothing blocks. Changes do not affect running turns.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "agents/cards/catalogue.h"
#include "base/guarded.h"
#include "engine/scheduling/scheduler.h"

namespace baton::engine {

class AgentScales {
 public:
  AgentScales(const agents::Catalogue& catalogue, Scheduler& scheduler)
      : catalogue_(catalogue), scheduler_(scheduler) {}

  // 0: as the agent's card says; unset: no change.
  void set(const task::AgentName& agent, std::optional<int> workers, std::optional<int> concurrency);
  // Whether its executor keeps processes.
  bool has_workers(const task::AgentName& agent) const;
  // Applies the scales again to the executors, which a reload of the catalogue may have replaced.
  void apply();

 private:
  struct Scale {
    int workers = 0, concurrency = 0;  // 0: as the card says
    std::uint64_t changes = 0;
  };
  std::optional<Scale> scale_of(const task::AgentName& agent) const;
  void apply(const task::AgentName& agent) const;

  const agents::Catalogue& catalogue_;
  Scheduler& scheduler_;
  base::Guarded<std::unordered_map<task::AgentName, Scale>> scales_;
};

}  // namespace baton::engine
