// Error texts that name the failed step of a run, for callers and for the results of the steps around it.
//
// Pure functions.
#pragma once

#include <chrono>
#include <string>

#include "agents/plan/plan_facts.h"
#include "agents/plan/plan_place.h"

namespace baton::agents {

// The failed end of an attempt at `step`, an agent or a question, in a sentence that names the step:
// "step book/hotel (agent hotels) failed: no room". `end` has the child's words alone, as the step's own
// `error`.
PlanEnd named_failure(const PlanStep& step, const PlanPlace& at, const PlanEnd& end);

// The error text of an attempt that has taken more than `time`.
std::string timeout_words(std::chrono::milliseconds time);

}  // namespace baton::agents
