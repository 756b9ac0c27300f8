// Cgroups: a control group (version 2) for each agent process, where a tree of groups is delegated to Baton.
//
// systemd delegates one to a service with `Delegate=yes`, and marks it with the attribute user.delegate.
// There the card's limits on memory and processes cover an agent's process together with all it starts, also
// for root, and leftover descendants are killed with it, in whatever session they are.
//
// Baton moves itself to the group "baton" of that tree: a group that passes on controllers has no processes.
// Threads: one at a time. Destroying the object leaves the groups of running processes as they are.
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
    // The limits that the group enforces; the process needs none of its own for these.
    bool bounds_memory = false;
    bool bounds_processes = false;
  };

  // For groups below this process's own group. Empty if that group is not delegated, or if it cannot be
  // used, which is logged.
  static std::optional<Cgroups> delegated();
  // For groups below this folder. No other program may make groups there.
  explicit Cgroups(std::filesystem::path root);

  // Makes a group for a process that is about to start. Empty if that is not possible now.
  std::optional<Group> make(const ProcessLimits& limits);
  // Kills the processes left in the group and removes it, in this call or a later one: the kernel takes a
  // moment.
  void end(const Group& group);

 private:
  bool take_root() const;

  std::filesystem::path root_;
  std::uint64_t last_ = 0;
  std::vector<std::filesystem::path> ended_;  // not yet removed
};

}  // namespace baton::agents
