// Reading the object "baton" of a card.json.
#pragma once

#include <vector>

#include "agents/settings.h"
#include "wire/json/document.h"
#include "wire/json/schema.h"

namespace baton::agents {

// Reads what wire::check_card found nothing wrong with. What the schema cannot say is checked here; problems
// are added to `problems`, with pointers from the root of the card.
AgentSettings read_settings(wire::Value baton, std::vector<wire::SchemaProblem>& problems);

}  // namespace baton::agents
