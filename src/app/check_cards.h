// Checks the cards of agents, their plans, programs and files. Starts nothing.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "agents/cards/catalogue.h"

namespace baton::app {

// Where the cards of a folder are.
struct AgentFolder {
  std::filesystem::path agents;  // all of them, as the folder was named
  std::string name;              // of the one whose own folder it is; empty: it is of several
};
AgentFolder agent_folder(const std::filesystem::path& named);

// Whether an agent can have this name.
bool is_agent_name(std::string_view name);

struct CardFinding {
  std::string agent;
  bool is_wrong = false;  // the agent would be left out, or cannot do its work; else it is only odd
  agents::Catalogue::Finding what;
};

struct CheckedCards {
  std::vector<std::string> agents;
  std::vector<CardFinding> findings;  // by agent, what is wrong first

  bool are_right() const;
};

// `folder` has agents, or is an agent's own, of which alone is told. A card that names an agent which is not
// there is wrong, unless `allows_missing`: where the other card is deployed apart. Fails with
// invalid_argument if there is no card.
base::Result<CheckedCards> check_cards(const std::filesystem::path& folder, bool allows_missing = false);

}  // namespace baton::app
