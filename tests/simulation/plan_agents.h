// The agents of a simulation that are plans, by the production's executors, and those that do their steps.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "agents/cards/catalogue.h"

namespace baton::simulation {

class World;

// How often each attempt of a step's task was begun. Outlives the processes.
class StepCalls {
 public:
  // Begins it: a second time only if its first beginning, or that of its task, was lost.
  void begin(World& world, const std::string& task, int attempt);
  // The attempt will be begun again.
  void broke_off(const std::string& task, int attempt) { all_.erase({task, attempt}); }
  void power_lost() { ++powers_; }
  bool has(const std::string& task, int attempt) const { return all_.contains({task, attempt}); }

 private:
  int powers_ = 0;  // how often the power was lost
  std::map<std::pair<std::string, int>, int> all_;
};

// Does the step's work, or is asked by a plan.
bool is_step_agent(const std::string& agent);
bool is_asked_by_plan(const std::string& agent);

std::vector<agents::Agent> make_plan_agents(World& world);
// Those that only plans find.
std::vector<agents::Agent> make_ask_agents();

}  // namespace baton::simulation
