// What is the same for all processes of one command agent.
#pragma once

#include <filesystem>
#include <string>

#include "agents/command/process.h"
#include "agents/process_host.h"
#include "agents/settings.h"
#include "task/ids.h"

namespace baton::agents {

struct LaunchFacts {
  ProcessHost& host;
  task::AgentName agent;
  AgentSettings settings;
  Command command;
};

// The command of an agent: in its folder, with Baton's environment less what is named BATON_..., which may
// hold secrets, plus the card's.
Command command_of(const AgentSettings& settings, const std::filesystem::path& folder);

// How a process ended, for the caller: without the agent's folder, which is nobody else's business.
std::string shown(const LaunchFacts& facts, const ProcessExit& exit);

}  // namespace baton::agents
