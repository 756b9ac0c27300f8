#include "agents/command/cgroups.h"

#include <doctest/doctest.h>
#include <sys/wait.h>

#include "agents/command/spawn.h"
#include "support/temp_folder.h"

namespace baton::agents::cgroups_test {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;

// A folder of plain files stands in for the kernel's cgroup folder, which not every machine offers.
TEST_CASE("Cgroups: a process's group has the card's limits, and its end kills the remaining processes") {
  const TempFolder folder;
  Cgroups groups(folder.path());
  ProcessLimits limits;
  limits.memory = 64 << 20;
  limits.processes = 7;
  const auto group = groups.make(limits);
  REQUIRE(group);
  CHECK(group->bounds_memory);
  CHECK(group->bounds_processes);
  CHECK(TempFolder::read(group->folder / "memory.max") == "67108864");
  CHECK(TempFolder::read(group->folder / "memory.oom.group") == "1");
  CHECK(TempFolder::read(group->folder / "pids.max") == "7");
  groups.end(*group);
  CHECK(TempFolder::read(group->folder / "cgroup.kill") == "1");
}

TEST_CASE("Cgroups: without limits in the card the group has none") {
  const TempFolder folder;
  const auto group = Cgroups(folder.path()).make({});
  REQUIRE(group);
  CHECK_FALSE(group->bounds_memory);
  CHECK_FALSE(fs::exists(group->folder / "memory.max"));
  CHECK_FALSE(fs::exists(group->folder / "pids.max"));
}

TEST_CASE("Cgroups: an existing group is not reused, and a failure to create one gives no group") {
  const TempFolder folder;
  fs::create_directory(folder.path() / "agent-1");
  CHECK(Cgroups(folder.path()).make({})->folder == folder.path() / "agent-2");
  CHECK_FALSE(Cgroups(folder.path() / "missing").make({}));
}

TEST_CASE("spawn: a process joins its control group before it runs, or does not start") {
  const TempFolder folder;
  Command command{{"true"}, {}, "/", {}, folder.path()};
  CHECK_FALSE(spawn(command));
  folder.write("cgroup.procs", "");
  const auto child = spawn(command);
  REQUIRE(child);
  waitpid(child->pid, nullptr, 0);
  CHECK(TempFolder::read(folder.path() / "cgroup.procs") == "0");
}

}  // namespace
}  // namespace baton::agents::cgroups_test
