// Checks where a plan refers to values: what a pointer names must be there, and must be able to have a value
// by the time it is read. What depends on the values themselves is not checked.
//
// Pure functions.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "agents/plan/plan.h"

namespace baton::agents {

// Where the parts of a plan stand in its text, as reading it has found.
struct PlanPlaces {
  std::string plan;
  std::map<std::string, const PlanStep*, std::less<>> ids;
  std::map<const PlanStep*, std::string> steps;
  struct Pointed {
    std::string pointer, place;
    const PlanStep* step;  // that reads it
  };
  std::vector<Pointed> conditions;
  // What values are compared with: texts in it may have pointers.
  struct Compared {
    task::Json with;
    std::string place;
    const PlanStep* step;
  };
  std::vector<Compared> compared;
};

// Whether a round of the loops around both has no value of `named` yet when `reader` reads it, as `named`
// comes after it, runs at the same time, or is the reader itself or around it. False of what it will not have
// at all, such as a step in another branch of a route, and of what a compensation reads.
bool comes_later(const PlanStep& reader, const PlanStep& named);

// Adds what is wrong to `problems`.
void check_pointers(const Plan& plan, const PlanPlaces& places, std::vector<json::SchemaProblem>& problems);

}  // namespace baton::agents
