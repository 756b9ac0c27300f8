// The picture of a plan, or of one run of it, as SVG: steps from top to bottom, concurrent ones side by
// side, loops and maps as frames. Each step is a group with its state as class, its id as `data-step` and
// its kind as `data-kind`. It has no script, names no other resource, and is the same for the same input.
// Its style is inline.
//
// Pure.
#pragma once

#include <string>

#include "agents/plan/plan.h"
#include "agents/plan/plan_facts.h"
#include "task/state.h"

namespace baton::agents {

struct PlanPictureRun {
  const PlanFacts& facts;
  task::State state = task::State::working;  // of the task
  base::Timestamp now{};                     // or when the task ended
  std::string asking = {};                   // the path of the step whose child asks the caller; empty: none
};

// `title`: the agent's name. `run`: null draws the plan alone.
std::string plan_picture(const Plan& plan, const std::string& title, const PlanPictureRun* run = nullptr);

}  // namespace baton::agents
