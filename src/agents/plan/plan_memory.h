// PlanMemories: a cache of the state of runs of plans between their turns, so that a turn's cost depends
// on the new events only. The cache is never required: a turn without it reads the log and the message
// again.
//
// Threads: any. Memory: `bytes_max` for all runs together, approximately; the least recently used are
// dropped.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "agents/executor.h"
#include "agents/plan/plan.h"
#include "agents/plan/plan_facts.h"
#include "agents/plan/plan_sources.h"
#include "base/guarded.h"

namespace baton::agents {

struct PlanMemory {
  explicit PlanMemory(task::Message message) : sources(std::move(message)) {}

  PlanSources sources;
  PlanFacts facts;
  std::shared_ptr<const Plan> plan;  // that the run began with
  // The number of states of the log that the facts are folded from, and the last of these states.
  std::size_t states = 0;
  std::string last_state;

  std::size_t bytes() const { return sources.bytes() + facts.bytes() + last_state.size(); }
};

class PlanMemories {
 public:
  explicit PlanMemories(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // Removes and returns the memory of the turn's run, whose facts may lack the last states; or else, also if
  // the log is not the one that the memory was made from, returns a new one, made with the turn's message.
  // The caller is its only owner.
  std::unique_ptr<PlanMemory> take(Turn& turn);
  void keep(task::TaskKey run, std::unique_ptr<PlanMemory> memory);

 private:
  struct Kept {
    task::TaskKey run;
    std::unique_ptr<PlanMemory> memory;
    std::size_t bytes = 0;
  };
  struct State {
    std::list<Kept> all;  // the one that was kept last comes first
    std::unordered_map<task::TaskKey, std::list<Kept>::iterator> places;
    std::size_t bytes = 0;
  };

  const std::size_t bytes_max_;
  base::Guarded<State> state_;
};

}  // namespace baton::agents
