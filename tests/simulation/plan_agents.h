// The agents of a simulation that are plans, run by the production executors, and those that do the plans'
// steps.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "agents/cards/catalogue.h"

namespace baton::simulation {

class World;

// Records the attempts of steps' tasks that were begun. Outlives the processes.
class StepCalls {
 public:
  // Records that the attempt begins. It may begin again only after a loss of power or an operator's requeue.
  void begin(World& world, const std::string& task, int attempt);
  // The attempt will be begun again.
  void broke_off(const std::string& task, int attempt) { all_.erase({task, attempt}); }
  void power_lost() { ++powers_; }
  bool has(const std::string& task, int attempt) const { return all_.contains({task, attempt}); }

 private:
  int powers_ = 0;  // how often the power was lost
  std::map<std::pair<std::string, int>, int> all_;
};

// The first: does the work of steps. The second: is asked by plans.
bool is_step_agent(const std::string& agent);
bool is_asked_by_plan(const std::string& agent);

std::vector<agents::Agent> make_plan_agents(World& world);
// The hidden agents, which only plans find.
std::vector<agents::Agent> make_ask_agents();

}  // namespace baton::simulation
