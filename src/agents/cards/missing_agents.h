// Findings about cards that name an agent the catalogue does not have. A check of cards that belong together
// treats them as errors; a server only warns, because the other card may be added later.
//
// Pure functions.
#pragma once

#include <string>

#include "agents/cards/catalogue.h"

namespace baton::agents {

// The finding's reason.
std::string missing_agent(const std::string& name);
bool is_about_missing_agent(const Catalogue::Finding& finding);

}  // namespace baton::agents
