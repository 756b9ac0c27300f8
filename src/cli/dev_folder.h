// The folder of agents for commands that are not told which.
#pragma once

#include <string>

namespace baton::cli {

struct DevFolder {
  std::string folder;
  std::string about;  // a line for people: which agents are served, and where the shipped ones are
};

// Returns agent-cards or agents, the first of them that has an agent; if neither has one, agent-cards.
std::string own_agents_folder();

// Returns the folder that `baton dev` serves: agent-cards or agents if that has an agent, or else the agents
// that come with Baton, which it unpacks (base/unpacked.h). The folder is empty if they cannot be unpacked;
// `about` then has the reason.
DevFolder find_dev_folder();

}  // namespace baton::cli
