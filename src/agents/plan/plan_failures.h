// Failures of a step in a run: their texts, for callers and for the results of the steps around it, and which
// of them are tried again.
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

// Whether another attempt follows the last one at `step`, which has ended with a failure.
bool is_tried_again(const PlanStep& step, const PlanFacts::Attempts& last);

// The error text of an attempt that has taken more than `time`.
std::string timeout_words(std::chrono::milliseconds time);

}  // namespace baton::agents
