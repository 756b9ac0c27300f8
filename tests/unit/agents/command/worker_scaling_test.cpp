// Scaling an agent's workers at run time.
#include <doctest/doctest.h>

#include <set>
#include <vector>

#include "unit/agents/command/worker_bench.h"

namespace worker_scaling_test {

using namespace baton;
using test::message_of;
using test::WorkerBench;

TEST_CASE("Worker: scaled up, a waiting turn gets another worker at once") {
  WorkerBench bench;
  bench.settings.concurrency = 1;
  auto held = bench.hold();
  auto waiting = bench.begin("x");
  bench.executor().scale(2, 2);
  REQUIRE(waiting.sink->wait_finished());
  CHECK(waiting.sink->ending() == "done");
  CHECK(bench.host.process_count() == 2);
  CHECK_FALSE(held.sink->finished());
}

TEST_CASE("Worker: scaled down, surplus workers end after their turns, and no turn is lost") {
  WorkerBench bench(3);
  bench.settings.concurrency = 3;
  std::vector<test::RunningTest> held;
  for (int i = 0; i < 3; ++i) held.push_back(bench.hold());
  CHECK(bench.host.process_count() == 3);
  bench.executor().scale(1, 3);
  // The worker that stays may have three turns and has one.
  CHECK(bench.work("x")->ending() == "done");
  CHECK(bench.host.process_count() == 3);
  for (const auto& one : held) CHECK_FALSE(one.sink->finished());
  for (auto& one : held) one.turn->cancel();
  for (const auto& one : held) REQUIRE(one.sink->wait_finished());
  CHECK(bench.wait_processes(1));
  std::set<std::string> pids;
  for (int i = 0; i < 10; ++i) pids.insert(message_of(*bench.work("t")));
  CHECK(pids.size() == 1);
  bench.executor().scale(2, 2);
  auto first = bench.hold();
  CHECK(bench.work("x")->ending() == "done");
  CHECK(bench.host.process_count() == 2);
}

}  // namespace worker_scaling_test
