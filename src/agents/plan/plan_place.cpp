#include "agents/plan/plan_place.h"

#include <algorithm>
#include <cstdlib>

namespace baton::agents {

PlanPlace place_in(const PlanPlace& around, const PlanStep& step) {
  return {around.path + "/" + step.id, around.iterations};
}

PlanPlace place_of_iteration(const PlanPlace& around, const PlanStep& loop, int index) {
  PlanPlace place{around.path + "[" + std::to_string(index) + "]/" + loop.steps.front()->id,
                  around.iterations};
  place.iterations.emplace_back(&loop, index);
  return place;
}

std::string label_of(const PlanStep& step, const PlanPlace& at) {
  const PlanStep* root = &step;
  while (root->parent != nullptr) root = root->parent;
  const std::string start = root->id + "/";
  return at.path.starts_with(start) ? at.path.substr(start.size()) : at.path;
}

StepAt find_at(const Plan& plan, const std::string& path) {
  StepAt found{&plan.root, {plan.root.id, {}}};
  std::size_t at = plan.root.id.size();
  while (at < path.size() && found.step != nullptr) {
    int index = -1;
    if (path[at] == '[') {
      index = std::atoi(path.c_str() + at + 1);
      at = path.find(']', at) + 1;
    }
    const std::size_t end = std::min(path.find_first_of("/[", at + 1), path.size());
    const std::string id = path.substr(at + 1, end - at - 1);
    const PlanStep* next = nullptr;
    for (const auto& one : found.step->steps) {
      if (one->id == id) next = one.get();
    }
    if (found.step->compensation && found.step->compensation->id == id) next = found.step->compensation.get();
    if (next != nullptr)
      found.place =
          index < 0 ? place_in(found.place, *next) : place_of_iteration(found.place, *found.step, index);
    found.step = next;
    at = end;
  }
  return found;
}

}  // namespace baton::agents
