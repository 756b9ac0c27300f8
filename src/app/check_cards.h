// Checks the cards of agents, their plans, programs and files. Starts nothing.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "agents/cards/catalogue.h"

namespace baton::app {

// The folder of agents that a path names directly, or through the folder of one agent.
struct AgentFolder {
  std::filesystem::path agents;  // the folder of all agents, relative if the path was
  std::string name;              // the agent whose own folder the path names; empty: it names all agents
};
AgentFolder agent_folder(const std::filesystem::path& named);

// Returns true if the name is valid for an agent.
bool is_agent_name(std::string_view name);

struct CardFinding {
  std::string agent;
  bool is_wrong = false;  // true: the agent would be left out or cannot do its work; false: only a warning
  agents::Catalogue::Finding what;
};

struct CheckedCards {
  std::vector<std::string> agents;
  std::vector<CardFinding> findings;  // by agent, errors before warnings

  bool are_right() const;
};

// `folder` contains agents, or is the folder of one agent, and then the result is about that agent only. A
// card that names a missing agent is wrong, unless `allows_missing`, for cards that are deployed separately.
// Fails with invalid_argument if there is no card.
base::Result<CheckedCards> check_cards(const std::filesystem::path& folder, bool allows_missing = false);

}  // namespace baton::app
