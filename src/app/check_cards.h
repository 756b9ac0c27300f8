// Checks the cards of agents, their plans, programs and files. Starts nothing.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "agents/catalogue.h"

namespace baton::app {

struct CardFinding {
  std::string agent;
  bool is_wrong = false;  // the agent would be left out; else it is only odd
  agents::Catalogue::Finding what;
};

struct CheckedCards {
  std::vector<std::string> agents;
  std::vector<CardFinding> findings;  // by agent, what is wrong first

  bool are_right() const;
};

// `folder` has agents, or is an agent's own, of which alone is told. Fails with invalid_argument if there is
// no card.
base::Result<CheckedCards> check_cards(const std::filesystem::path& folder);

}  // namespace baton::app
