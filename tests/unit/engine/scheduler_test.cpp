#include "engine/scheduling/scheduler.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace scheduler_test {

using namespace baton;
using engine::Scheduler;
using Room = engine::Scheduler::Room;
using Origin = engine::Scheduler::Origin;

namespace {

const task::AgentName kBusy{"busy"}, kQuiet{"quiet"};

// A scheduler that records the turns it starts.
struct Bench {
  std::vector<std::pair<std::int64_t, std::string>> started;
  Scheduler scheduler;

  Bench(int slots, int queue_max)
      : scheduler(slots, queue_max, {{kBusy, 2}, {kQuiet, 2}},
                  [this](task::TaskKey task, const task::AgentName& agent) {
                    started.emplace_back(task.value, agent.value);
                  }) {}

  Room reserve(const task::AgentName& agent, const std::string& caller = "ann") {
    return scheduler.reserve({agent, caller}, false);
  }

  void enqueue(std::int64_t task, const task::AgentName& agent, const std::string& caller = "ann") {
    REQUIRE(reserve(agent, caller) == Room::queue);
    scheduler.enqueue({task}, {agent, caller});
  }
};

}  // namespace

TEST_CASE("Scheduler: an agent's limit delays its own turns only") {
  Bench bench(10, 100);
  for (int i = 1; i <= 5; ++i) bench.enqueue(i, kBusy);
  CHECK(bench.started.size() == 2);
  bench.enqueue(6, kQuiet);
  CHECK(bench.started.back().first == 6);
  bench.scheduler.finished(kBusy);
  CHECK(bench.started.back().first == 3);
  CHECK(bench.scheduler.counts().queued == 2);
  CHECK(bench.scheduler.counts().running == 3);
}

TEST_CASE("Scheduler: an agent's own limit overrides the default, and lowering it keeps running turns") {
  Bench bench(10, 100);
  for (int i = 1; i <= 8; ++i) bench.enqueue(i, kBusy);
  bench.scheduler.set_limit(kBusy, 4);
  CHECK(bench.started.size() == 4);
  bench.scheduler.set_limit(kBusy, 1);
  bench.scheduler.set_limits({{kBusy, 6}});
  for (int i = 0; i < 3; ++i) bench.scheduler.finished(kBusy);
  CHECK(bench.started.size() == 4);
  CHECK(bench.scheduler.counts().running == 1);
  bench.scheduler.finished(kBusy);
  CHECK(bench.started.size() == 5);
  bench.scheduler.set_limit(kBusy, 0);
  CHECK(bench.started.size() == 8);
}

TEST_CASE("Scheduler: agents take turns for a free slot") {
  Bench bench(1, 100);
  bench.enqueue(1, kBusy);
  for (int i = 2; i <= 4; ++i) bench.enqueue(i, kBusy);
  bench.enqueue(10, kQuiet);
  std::vector<std::string> order;
  for (int i = 0; i < 4; ++i) {
    bench.scheduler.finished(task::AgentName{bench.started.back().second});
    order.push_back(bench.started.back().second);
  }
  // The quiet agent's queued turn does not wait for the busy agent's three.
  CHECK(order == std::vector<std::string>{"busy", "quiet", "busy", "busy"});
}

TEST_CASE("Scheduler: a full queue refuses and a released reservation makes room") {
  Bench bench(1, 2);
  bench.enqueue(1, kBusy);  // runs
  bench.enqueue(2, kBusy);
  REQUIRE(bench.reserve(kBusy) == Room::queue);
  CHECK(bench.reserve(kBusy) == Room::none);
  bench.scheduler.release({kBusy, "ann"});
  CHECK(bench.reserve(kBusy) == Room::queue);
}

TEST_CASE("Scheduler: a removed turn frees its place in the queue") {
  Bench bench(1, 1);
  bench.enqueue(1, kBusy);
  bench.enqueue(2, kQuiet);
  CHECK(bench.reserve(kQuiet) == Room::none);
  bench.scheduler.remove({2}, {kQuiet, "ann"});
  bench.scheduler.remove({2}, {kQuiet, "ann"});
  bench.enqueue(3, kQuiet);
  bench.scheduler.finished(kBusy);
  CHECK(bench.started.back().first == 3);
  CHECK(bench.started.size() == 2);
}

TEST_CASE("Scheduler: a task is in the queue at most once") {
  Bench bench(1, 10);
  bench.enqueue(1, kBusy);
  bench.enqueue(2, kBusy);
  bench.enqueue(2, kBusy);
  CHECK(bench.scheduler.counts().queued == 1);
  bench.scheduler.finished(kBusy);
  bench.scheduler.finished(kBusy);
  CHECK(bench.started.size() == 2);
}

TEST_CASE("Scheduler: a waiting parent releases its slot and gets one back at once") {
  Bench bench(1, 10);
  bench.enqueue(1, kBusy);
  bench.enqueue(2, kQuiet);
  CHECK(bench.started.size() == 1);
  bench.scheduler.finished(kBusy);  // the parent waits for its child
  REQUIRE(bench.started.size() == 2);
  bench.scheduler.resumed(kBusy);
  CHECK(bench.scheduler.counts().running == 2);
}

TEST_CASE("Scheduler: once closed it starts nothing") {
  Bench bench(5, 10);
  bench.scheduler.close();
  CHECK(bench.scheduler.reserve({kBusy, "ann"}, true) == Room::closed);
  bench.scheduler.enqueue_again({1}, {kBusy, "ann", Origin::earlier});
  CHECK(bench.started.empty());
}

TEST_CASE("Scheduler: a turn can reserve a free slot before it is stored, and releases it as usual") {
  Bench bench(3, 10);
  CHECK(bench.scheduler.reserve({kBusy, "ann"}, true) == Room::slot);
  CHECK(bench.scheduler.reserve({kBusy, "ann"}, true) == Room::slot);
  CHECK(bench.scheduler.counts().running == 2);
  CHECK(bench.started.empty());
  CHECK(bench.scheduler.reserve({kBusy, "ann"}, true) == Room::queue);  // the agent may run two
  bench.scheduler.enqueue({1}, {kBusy, "ann"});
  bench.scheduler.finished(kBusy);
  CHECK(bench.started.size() == 1);
}

TEST_CASE("Scheduler: a released slot goes to the waiting turn, not to a new one") {
  Bench bench(1, 10);
  CHECK(bench.scheduler.reserve({kBusy, "ann"}, true) == Room::slot);
  bench.enqueue(1, kQuiet);
  bench.scheduler.finished(kBusy);
  REQUIRE(bench.started.size() == 1);
  CHECK(bench.started.back().first == 1);
  CHECK(bench.scheduler.reserve({kBusy, "ann"}, true) == Room::queue);
  bench.scheduler.release({kBusy, "ann"});
  bench.scheduler.finished(kQuiet);
  CHECK(bench.scheduler.reserve({kBusy, "ann"}, true) == Room::slot);
  CHECK(bench.scheduler.reserve({kBusy, "ann"}, false) == Room::queue);
}

TEST_CASE(
    "Scheduler: callers take turns at an agent, so one queued turn does not wait for another caller's many") {
  Bench bench(10, 100);
  for (int i = 1; i <= 8; ++i) bench.enqueue(i, kBusy, "ann");
  bench.enqueue(20, kBusy, "bob");
  CHECK(bench.started.size() == 2);
  std::vector<std::int64_t> order;
  for (int i = 0; i < 4; ++i) {
    bench.scheduler.finished(kBusy);
    order.push_back(bench.started.back().first);
  }
  CHECK(order == std::vector<std::int64_t>{3, 20, 4, 5});
}

TEST_CASE("Scheduler: a caller at its share is refused, others are not") {
  Bench bench(1, 8);
  bench.scheduler.set_caller_max(2);
  bench.enqueue(1, kBusy);  // runs
  bench.enqueue(2, kBusy);
  REQUIRE(bench.reserve(kQuiet) == Room::queue);
  CHECK(bench.reserve(kBusy) == Room::over_share);
  CHECK(bench.reserve(kBusy, "bob") == Room::queue);
  bench.scheduler.release({kQuiet, "ann"});
  CHECK(bench.reserve(kBusy) == Room::queue);
  CHECK(bench.reserve(kBusy) == Room::over_share);
  bench.scheduler.finished(kBusy);  // the second turn leaves the queue
  CHECK(bench.reserve(kBusy) == Room::queue);
}

TEST_CASE("Scheduler: a recovered turn is never refused and does not count for its caller's share") {
  Bench bench(1, 2);
  bench.scheduler.set_caller_max(1);
  bench.enqueue(1, kBusy);  // runs
  bench.scheduler.enqueue_again({2}, {kBusy, "ann", Origin::earlier});
  bench.enqueue(3, kBusy);
  CHECK(bench.reserve(kBusy) == Room::none);
  bench.scheduler.enqueue_again({4}, {kBusy, "ann", Origin::earlier});
  CHECK(bench.scheduler.counts().queued == 3);
  bench.scheduler.remove({4}, {kBusy, "ann", Origin::earlier});
  bench.scheduler.remove({2}, {kBusy, "ann", Origin::earlier});
  CHECK(bench.reserve(kBusy) == Room::over_share);
  bench.scheduler.remove({3}, {kBusy, "ann"});
  CHECK(bench.reserve(kBusy) == Room::queue);
}

TEST_CASE("Scheduler: children are never refused and take no place in the queue from sends") {
  Bench bench(1, 1);
  bench.scheduler.set_caller_max(1);
  const Scheduler::RoomRequest child{kBusy, "ann", Origin::child};
  bench.enqueue(1, kBusy);  // runs
  for (int i = 10; i < 15; ++i) {
    REQUIRE(bench.scheduler.reserve(child, false) == Room::queue);
    bench.scheduler.enqueue({i}, child);
  }
  REQUIRE(bench.scheduler.reserve(child, false) == Room::queue);
  bench.scheduler.release(child);
  bench.scheduler.enqueue_again({15}, child);  // as after a restart
  bench.scheduler.enqueue_again({15}, child);
  bench.scheduler.remove({14}, child);
  CHECK(bench.scheduler.counts().queued == 5);
  bench.enqueue(2, kBusy);
  CHECK(bench.reserve(kBusy, "bob") == Room::none);
  bench.scheduler.remove({2}, {kBusy, "ann"});
  CHECK(bench.reserve(kBusy) == Room::queue);
}

TEST_CASE("Scheduler: a caller's sends alternate with the queued children of its plans") {
  Bench bench(1, 100);
  bench.enqueue(1, kBusy);  // runs
  const Scheduler::RoomRequest child{kBusy, "ann", Origin::child};
  for (int i = 10; i < 20; ++i) bench.scheduler.enqueue_again({i}, child);
  bench.enqueue(2, kBusy);
  std::vector<std::int64_t> order;
  for (int i = 0; i < 3; ++i) {
    bench.scheduler.finished(kBusy);
    order.push_back(bench.started.back().first);
  }
  CHECK(order == std::vector<std::int64_t>{10, 2, 11});
}

TEST_CASE("Scheduler: removing the next turn in the queue does not block those behind it") {
  Bench bench(2, 100);
  bench.enqueue(1, kBusy);
  bench.enqueue(2, kBusy);
  bench.enqueue(3, kQuiet, "cy");
  bench.enqueue(4, kBusy, "ann");
  bench.enqueue(5, kBusy, "bob");
  bench.scheduler.finished(kBusy);  // cy's turn begins
  REQUIRE(bench.started.back().first == 3);
  bench.scheduler.remove({4}, {kBusy, "ann"});
  bench.scheduler.finished(kBusy);
  CHECK(bench.started.back().first == 5);
  CHECK(bench.scheduler.counts().queued == 0);
}

TEST_CASE("Scheduler: every queued turn begins once, for any callers, agents and removals") {
  Bench bench(3, 1000);
  const std::string callers[] = {"ann", "bob", "cy"};
  std::size_t removed = 0;
  std::uint32_t dice = 12345;
  for (int task = 1; task <= 300; ++task) {
    dice = dice * 1664525 + 1013904223;
    const task::AgentName& agent = (dice >> 16) % 2 == 0 ? kBusy : kQuiet;
    const std::string& caller = callers[(dice >> 20) % 3];
    bench.enqueue(task, agent, caller);
    const int queued = bench.scheduler.counts().queued;
    if ((dice >> 24) % 5 == 0) bench.scheduler.remove({task}, {agent, caller});
    if (bench.scheduler.counts().queued < queued) ++removed;
  }
  for (std::size_t ended = 0; ended < bench.started.size(); ++ended) {
    bench.scheduler.finished(task::AgentName{bench.started[ended].second});
  }
  CHECK(bench.started.size() + removed == 300);
  CHECK(bench.scheduler.counts().queued == 0);
  CHECK(bench.scheduler.counts().running == 0);
}

}  // namespace scheduler_test
