#include "agents/command/process_host.h"

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <filesystem>

#include "support/agent_bench.h"

namespace process_host_test {

using namespace baton;
using baton::test::AgentBench;

namespace {

// Whether this process has a child that has ended and was not reaped.
bool has_zombie() {
  siginfo_t info{};
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

}  // namespace

TEST_CASE("ProcessHost: two hundred turns leave no process and no descriptor behind") {
  AgentBench bench;
  bench.shell("read line; echo '{\"type\":\"done\"}'");
  bench.run("warm up");
  REQUIRE(bench.wait_processes(0));
  const std::size_t before = open_descriptors();
  for (int round = 0; round < 10; ++round) {
    std::vector<test::RunningTest> turns;
    for (int i = 0; i < 20; ++i)
      turns.push_back(bench.start(AgentBench::turn_of("x", "t" + std::to_string(i))));
    for (auto& one : turns) {
      REQUIRE(one.sink->wait_finished());
      CHECK(one.sink->ending() == "done");
    }
  }
  REQUIRE(bench.wait_processes(0));
  CHECK(open_descriptors() == before);
  CHECK_FALSE(has_zombie());
}

TEST_CASE("ProcessHost: turns dropped at any moment leave nothing behind and do not call their sinks") {
  AgentBench bench;
  bench.shell(
      "read line; for i in 1 2 3 4 5 6 7 8; do echo '{\"type\":\"text\",\"delta\":\"x\"}'; done; sleep 1000");
  std::vector<std::pair<std::shared_ptr<test::RecordingSink>, std::string>> heard;
  for (int i = 0; i < 40; ++i) {
    auto running = bench.start(AgentBench::turn_of("x"));
    const auto wanted = static_cast<std::size_t>(i % 9);
    running.sink->wait_until([&](const auto& sink) { return sink.text_calls() >= wanted; });
    running.turn.reset();
    heard.emplace_back(running.sink, running.sink->text_now());
  }
  CHECK(bench.wait_processes(0));
  for (const auto& [sink, text] : heard) CHECK(sink->text_now() == text);
  CHECK_FALSE(has_zombie());
}

TEST_CASE("ProcessHost: its destructor kills and reaps processes that still run") {
  {
    AgentBench bench;
    bench.shell("echo $$ > own.pid; echo '{\"type\":\"text\",\"delta\":\"up\"}'; sleep 1000");
    auto running = bench.start(AgentBench::turn_of("x"));
    REQUIRE(running.sink->wait_until([](const auto& sink) { return !sink.all_text().empty(); }));
    running.turn.reset();
  }
  CHECK_FALSE(has_zombie());
}

}  // namespace process_host_test
