// Cgroups: a control group (version 2) for each process of an agent, where Baton was given a tree of groups.
//
// systemd gives one to a service with `Delegate=yes`, and says so in the group's attribute user.delegate.
// There, what the card says of memory and processes bounds an agent's process together with all it starts,
// for root too, and what it leaves behind is ended with it, whichever session that is in.
//
// Baton moves itself to the group "baton" of that tree: a group that hands controllers on has no processes.
// Threads: one at a time. The end of the object leaves the groups of running processes as they are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "agents/settings.h"

namespace baton::agents {

class Cgroups {
 public:
  struct Group {
    std::filesystem::path folder;
    // What the group bounds: the process itself need not be.
    bool bounds_memory = false;
    bool bounds_processes = false;
  };

  // Below the group that this process is in, if it was delegated. Nothing where there is no such group, or no
  // way to use it, which the log says.
  static std::optional<Cgroups> delegated();
  // Below this folder, to which nobody else makes groups.
  explicit Cgroups(std::filesystem::path root);

  // A group for a process that is about to start. Nothing if none can be made now.
  std::optional<Group> make(const ProcessLimits& limits);
  // Ends what is left in it and removes it, now or when another one ends: it takes the kernel a moment.
  void end(const Group& group);

 private:
  bool take_root() const;

  std::filesystem::path root_;
  std::uint64_t last_ = 0;
  std::vector<std::filesystem::path> ended_;  // not yet removed
};

}  // namespace baton::agents
