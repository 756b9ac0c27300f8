// Starts a child process whose standard streams are pipes to Baton.
//
// The child leads its own process group and session, so that all it starts can be killed with it. It has
// default signal dispositions, an empty signal mask and no descriptor but its three streams. It can never
// gain privileges that Baton does not have. The kernel kills it when the thread that started it ends, so that
// no agent outlives a killed Baton.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "agents/settings.h"
#include "base/error.h"
#include "base/unique_fd.h"

namespace baton::agents {

class RecentLines;

struct Command {
  std::vector<std::string> words;        // program and arguments; a program without '/' is looked up in PATH
  std::vector<std::string> environment;  // NAME=value
  std::string folder;                    // to run in; searched for a program that PATH does not have
  ProcessLimits limits = {};
  std::string group = {};  // the folder of the control group to start in; empty: Baton's own
  std::shared_ptr<RecentLines> errors = {};  // shared by the agent's processes; null: not kept
};

struct Child {
  pid_t pid = 0;
  base::UniqueFd pidfd;   // readable once the child has ended
  base::UniqueFd input;   // write end; non-blocking, like the others
  base::UniqueFd output;  // read end
  base::UniqueFd errors;  // read end
};

// Call it from a thread that outlives the child. Fails with overloaded if the system has no descriptor,
// process or memory left just now, else with unavailable; for_caller names the program without its folder.
base::Result<Child> spawn(const Command& command);

// Returns a sentence for each file that the command needs and that is not on the disk now: the program,
// and arguments with a script's extension.
std::vector<std::string> missing_files(const Command& command);

}  // namespace baton::agents
