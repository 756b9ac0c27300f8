// What a catalogue says of a card that names an agent which is not there: for whoever checks cards that
// belong together, that is wrong; a server starts all the same, as the other card may come later.
//
// Pure functions.
#pragma once

#include <string>

#include "agents/catalogue.h"

namespace baton::agents {

// The finding's reason.
std::string missing_agent(const std::string& name);
bool is_about_missing_agent(const Catalogue::Finding& finding);

}  // namespace baton::agents
