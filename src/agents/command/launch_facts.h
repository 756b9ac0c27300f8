// What is the same for all processes of one command agent.
#pragma once

#include <filesystem>
#include <string>

#include "agents/command/process.h"
#include "agents/executor.h"
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

// The command of an agent: in its folder, with PATH, HOME, LANG, TZ and TMPDIR of Baton's environment, what
// the card wants passed on, and the card's own variables.
Command command_of(const AgentSettings& settings, const std::filesystem::path& folder);

// A turn as facts of a log line: "task=t1 attempt=2".
std::string log_facts(const Turn& turn);

// Why a turn failed whose process ended, for the caller: "<what> (exit code 3); the log has more about task
// <task>". With verbose errors the last line of standard error stands in place of the task, without the
// agent's folder, which is nobody else's business.
std::string failure(const LaunchFacts& facts, const std::string& what, const ProcessExit& exit,
                    const task::TaskId& task);

}  // namespace baton::agents
