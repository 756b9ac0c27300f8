#include "agents/command/launch_facts.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "base/unpacked.h"
#include "support/temp_folder.h"

namespace launch_facts_test {

using namespace baton;

namespace {

// A folder of agents that has the agent "probe".
struct Bench {
  Bench() { agents.write("probe/card.json", "{}"); }

  // The variable's value in the agent's process, or "unset".
  std::string variable(const std::string& name) const {
    const agents::Command command = agents::command_of(settings, agents.path() / "probe");
    for (const std::string& one : command.environment) {
      if (one.starts_with(name + "=")) return one.substr(name.size() + 1);
    }
    return "unset";
  }
  std::string lib(const std::string& language) const { return (agents.path() / "lib" / language).string(); }

  test::TempFolder agents;
  agents::AgentSettings settings;
};

}  // namespace

TEST_CASE("command_of: the libraries beside the agents are on the agents' search paths") {
  Bench bench;
  bench.agents.write("lib/python/baton/__init__.py", "");
  bench.agents.write("lib/node/baton/index.js", "");
  CHECK(bench.variable("PYTHONPATH") == bench.lib("python"));
  CHECK(bench.variable("NODE_PATH") == bench.lib("node"));
}

TEST_CASE("command_of: search paths that the card sets or passes on come before the libraries") {
  Bench bench;
  bench.agents.write("lib/python/baton/__init__.py", "");
  bench.agents.write("lib/node/baton/index.js", "");
  bench.settings.env = {{"PYTHONPATH", "own"}};
  bench.settings.env_from = {"NODE_PATH"};
  setenv("NODE_PATH", "/passed/on", 1);
  CHECK(bench.variable("PYTHONPATH") == "own:" + bench.lib("python"));
  CHECK(bench.variable("NODE_PATH") == "/passed/on:" + bench.lib("node"));
  unsetenv("NODE_PATH");
}

TEST_CASE(
    "command_of: without libraries beside the agents, those that the program carries are on the paths") {
  Bench bench;
  bench.agents.write("lib/python/shared.py", "");
  const auto& unpacked = base::unpacked();
  REQUIRE(unpacked);
  CHECK(bench.variable("PYTHONPATH") == (unpacked->folder / "lib/python").string());
  CHECK(bench.variable("NODE_PATH") == (unpacked->folder / "lib/node").string());
  CHECK(std::filesystem::exists(unpacked->folder / "lib/python/baton/__init__.py"));
}

}  // namespace launch_facts_test
