// Checks the pointers of a plan: each must name something that exists and can have a value by the time it
// is read. Errors that depend on the values themselves are not found.
//
// Pure functions.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agents/plan/plan.h"

namespace baton::agents {

// The places of a plan's parts in its text, recorded while it is read.
struct PlanPlaces {
  std::string plan;
  std::map<std::string, const PlanStep*, std::less<>> ids;
  std::map<const PlanStep*, std::string> steps;
  struct Pointed {
    std::string pointer, place;
    const PlanStep* step;  // the reader
  };
  std::vector<Pointed> conditions;
  // The operand of a comparison; texts in it may contain pointers.
  struct Compared {
    task::Json with;
    std::string place;
    const PlanStep* step;
  };
  std::vector<Compared> compared;
  // The errors of members that would have no effect, such as all tests of a condition but one.
  std::vector<json::SchemaProblem> without_effect;
};

// The pointer of a {{pointer}}: the text between the braces without the blanks around it.
std::string pointer_between(std::string_view braces);

// Whether the pointer names a list of files, that of the message or of a step. A member "files" of data is no
// such list.
bool names_files(std::string_view pointer);

// Whether, within one iteration of the loops around both, `named` has no value yet when `reader` reads it:
// `named` comes later, runs at the same time, or is `reader` itself or around it. False if `named` gets no
// value at all in that iteration, such as a step in another branch of a route, and if either step is in a
// compensation.
bool comes_later(const PlanStep& reader, const PlanStep& named);

// Adds the errors found to `problems`, and those in `places`.
void check_pointers(const Plan& plan, const PlanPlaces& places, std::vector<json::SchemaProblem>& problems);

}  // namespace baton::agents
