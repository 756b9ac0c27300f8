// PlanPlace: a step in a run of a plan. Threads: pure functions.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "agents/plan/plan.h"

namespace baton::agents {

// A step in a run, with the iterations of the loops and maps around it, outermost first.
struct PlanPlace {
  std::string path;
  std::vector<std::pair<const PlanStep*, int>> iterations;
};

// The place of `step`, which stands in `around`, another step of the plan at this place.
PlanPlace place_in(const PlanPlace& around, const PlanStep& step);
// The place of an iteration's body.
PlanPlace place_of_iteration(const PlanPlace& around, const PlanStep& loop, int index);

// The step's name for callers: its path without the root, or the root's id.
std::string label_of(const PlanStep& step, const PlanPlace& at);

// The step at a path, and its place. The step is null if the plan does not have the path.
struct StepAt {
  const PlanStep* step = nullptr;
  PlanPlace place;
};
StepAt find_at(const Plan& plan, const std::string& path);

}  // namespace baton::agents
