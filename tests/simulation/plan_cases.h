// The plans of a simulation, and the outcome of each without faults. Together they have every kind of step,
// join rule and treatment of failures; "quarterly" is the shipped one.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agents/plan/plan.h"
#include "random.h"
#include "task/message.h"

namespace baton::simulation {

struct PlanCase {
  std::string agent;
  std::shared_ptr<const agents::Plan> plan;
};

// Reads the plans once.
const std::vector<PlanCase>& plan_cases();
// Null if this agent is no plan.
const agents::Plan* plan_of(const std::string& agent);
bool is_compensation(const std::string& path);

// A caller's input for the plan.
std::vector<task::Part> plan_input(const std::string& agent, Random& random);

// The outcomes that a run may have: the state, the text, and the files as "name=content", one a line.
// `answers`: the caller's, by the path of the step that asks; by "path>path" if that is a step of a nested
// plan.
using Answers = std::map<std::string, std::string>;
std::vector<std::string> plan_outcomes(const std::string& agent, const std::vector<task::Part>& input,
                                       const Answers& answers);

}  // namespace baton::simulation
