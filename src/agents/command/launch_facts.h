// LaunchFacts: the host, settings and command that all processes of one command agent share.
//
// Threads: any; immutable. Lifetime: the host outlives them. The functions read environment and files when
// they are called.
#pragma once

#include <filesystem>
#include <string>

#include "agents/command/process.h"
#include "agents/command/process_host.h"
#include "agents/executor.h"
#include "agents/settings.h"
#include "base/log.h"
#include "task/ids.h"

namespace baton::agents {

struct LaunchFacts {
  ProcessHost& host;
  task::AgentName agent;
  AgentSettings settings;
  Command command;
};

// The command of an agent, run in its folder. Its environment has PATH, HOME, LANG, TZ and TMPDIR from
// Baton's, the variables that the card wants passed on, and the card's own, which win. PYTHONPATH and
// NODE_PATH end with the helper libraries for agents: those in lib/ beside the agent's folder, or else
// those installed with Baton's program, or else those that the program carries (base/unpacked.h).
Command command_of(const AgentSettings& settings, const std::filesystem::path& folder);

// The agent's command for a turn that has a process of its own: with the turn's trace as TRACEPARENT, unless
// the card sets that.
Command command_for(const LaunchFacts& facts, const Turn& turn);

// The members of a turn's log lines: its task and attempt; the second function adds its agent.
base::LogMembers log_members(const Turn& turn);
base::LogMembers log_members(const task::AgentName& agent, const Turn& turn);

// The caller's error for a turn whose process ended: "<what> (exit code 3); for details, see the log for task
// <task>". With verbose errors it has the last line of standard error instead of the task, without the path
// of the agent's folder.
std::string failure(const LaunchFacts& facts, const std::string& what, const ProcessExit& exit,
                    const task::TaskId& task);

// Returns an agent's standard error, with "***" in place of values that may be secrets:
// variables of the card's `env_from`, and of `env` if their names say so (KEY, TOKEN, SECRET, PASS,
// CREDENTIAL, AUTH).
std::string masked_errors(const AgentSettings& settings, const std::string& errors);

}  // namespace baton::agents
