// What is true of every run of a plan, whatever breaks: its log has each beginning and end once and in order,
// its turns are told what has happened, and it comes to what it comes to without faults.
#pragma once

#include "agents/executor.h"
#include "model.h"

namespace baton::simulation {

class World;

// A plan's turn begins with this.
void check_plan_turn(World& world, const agents::Turn& turn);
// All tasks have ended. Reads the store.
void check_plans(World& world);
// Marks for what a kill has struck.
void note_plans_killed(const Model& model);

}  // namespace baton::simulation
