// Checks of every run of a plan, whatever breaks: its log has each beginning and end once and in order, its
// turns get the results of its children, and its outcome is one that it has without faults.
#pragma once

#include "agents/executor.h"
#include "model.h"

namespace baton::simulation {

class World;

// Checks what a plan's turn begins with.
void check_plan_turn(World& world, const agents::Turn& turn);
// Checks all plans, once all tasks have ended. Reads the store.
void check_plans(World& world);
// Marks the states of plans that a kill has struck.
void note_plans_killed(const Model& model);

}  // namespace baton::simulation
