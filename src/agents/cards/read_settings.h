// Reading the object "baton" of a card.json.
#pragma once

#include <filesystem>
#include <vector>

#include "agents/settings.h"
#include "json/document.h"
#include "json/schema.h"

namespace baton::agents {

// Reads an object that protocol::check_card has accepted, and checks what the schema cannot express. Adds
// problems to `problems`, with pointers from the root of the card. `folder`: the agent's, for paths.
AgentSettings read_settings(json::Value baton, const std::filesystem::path& folder,
                            std::vector<json::SchemaProblem>& problems);

}  // namespace baton::agents
