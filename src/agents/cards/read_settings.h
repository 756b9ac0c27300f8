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

// Reads the schemas that the card's skills name. That of an only skill is the agent's, unless it has its own.
void read_skill_inputs(json::Value skills, ToolSettings& into, std::vector<json::SchemaProblem>& problems);

}  // namespace baton::agents
