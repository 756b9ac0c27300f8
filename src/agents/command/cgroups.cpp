#include "agents/command/cgroups.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

#include "base/unique_fd.h"

namespace baton::agents {
namespace {

namespace fs = std::filesystem;

// Writes a control file in one write, as the kernel wants it. Returns whether that worked; sets errno if not.
bool put(const fs::path& file, std::string_view text) {
  const base::UniqueFd fd(open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  return fd.valid() && write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// Where groups of version 2 are mounted, the fifth word of a line of mountinfo:
// "36 35 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw".
fs::path mount_point() {
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    if (line.find(" - cgroup2 ") == std::string::npos) continue;
    std::size_t begin = 0;
    for (int field = 0; field < 4; ++field) begin = line.find(' ', begin) + 1;
    return line.substr(begin, line.find(' ', begin) - begin);
  }
  return {};
}

// "0::/system.slice/baton.service" is the line of version 2.
fs::path own_group() {
  const fs::path mounted = mount_point();
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (line.starts_with("0::/") && !mounted.empty()) return mounted / line.substr(4);
  }
  return {};
}

bool is_delegated(const fs::path& group) {
  for (const char* name : {"user.delegate", "trusted.delegate"}) {
    char value = 0;
    if (getxattr(group.c_str(), name, &value, 1) == 1 && value == '1') return true;
  }
  return false;
}

}  // namespace

Cgroups::Cgroups(fs::path root) : root_(std::move(root)) {}

std::optional<Cgroups> Cgroups::delegated() {
  const fs::path group = own_group();
  if (group.empty() || !is_delegated(group)) return std::nullopt;
  Cgroups groups(group);
  if (!groups.take_root()) {
    spdlog::warn("cannot use control group {} for agents: {}", group.string(), strerrordesc_np(errno));
    return std::nullopt;
  }
  spdlog::info("each agent runs in its own control group below {}", group.string());
  return groups;
}

// Passes on each controller separately: if one is not available, the other still is.
bool Cgroups::take_root() const {
  const fs::path own = root_ / "baton";
  if (mkdir(own.c_str(), 0755) != 0 && errno != EEXIST) return false;
  if (!put(own / "cgroup.procs", "0")) return false;
  for (const char* controller : {"+memory", "+pids"}) put(root_ / "cgroup.subtree_control", controller);
  return true;
}

std::optional<Cgroups::Group> Cgroups::make(const ProcessLimits& limits) {
  Group group;
  do group.folder = root_ / ("agent-" + std::to_string(++last_));
  while (mkdir(group.folder.c_str(), 0755) != 0 && errno == EEXIST);  // left by a killed Baton
  if (!fs::is_directory(group.folder)) return std::nullopt;
  if (limits.memory > 0) {
    group.bounds_memory = put(group.folder / "memory.max", std::to_string(limits.memory));
    put(group.folder / "memory.swap.max", "0");
    put(group.folder / "memory.oom.group", "1");
  }
  if (limits.processes > 0)
    group.bounds_processes = put(group.folder / "pids.max", std::to_string(limits.processes));
  return group;
}

void Cgroups::end(const Group& group) {
  put(group.folder / "cgroup.kill", "1");
  ended_.push_back(group.folder);
  std::erase_if(ended_, [](const fs::path& folder) { return rmdir(folder.c_str()) == 0 || errno == ENOENT; });
}

}  // namespace baton::agents
