// Reading the object "baton" of a card.json.
#pragma once

#include <vector>

#include "agents/settings.h"
#include "json/document.h"
#include "json/schema.h"

namespace baton::agents {

// Reads an object that protocol::check_card has accepted, and checks what the schema cannot express. Adds
// problems to `problems`, with pointers from the root of the card.
AgentSettings read_settings(json::Value baton, std::vector<json::SchemaProblem>& problems);

}  // namespace baton::agents
