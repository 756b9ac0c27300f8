// The agents of a simulation: they talk, ask, delegate, hang, ignore cancels and speak after their end.
#pragma once

#include "agents/cards/catalogue.h"

namespace baton::simulation {

class World;

// "plain" and "careful" accept any work; turns of "careful" fail after a restart. "brief" answers with a
// message. "child" gets what the others delegate.
std::vector<agents::Agent> make_agents(World& world);

}  // namespace baton::simulation
