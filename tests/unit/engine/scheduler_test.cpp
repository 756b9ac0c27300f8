#include "engine/scheduler.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace baton;
using engine::Scheduler;
using Room = engine::Scheduler::Room;

namespace {

const task::AgentName kBusy{"busy"}, kQuiet{"quiet"};

// A scheduler whose started turns can be looked at.
struct Bench {
  std::vector<std::pair<std::int64_t, std::string>> started;
  Scheduler scheduler;

  Bench(int slots, int queue_max)
      : scheduler(slots, queue_max, {{kBusy, 2}, {kQuiet, 2}},
                  [this](task::TaskKey task, const task::AgentName& agent) {
                    started.emplace_back(task.value, agent.value);
                  }) {}

  Room reserve(const task::AgentName& agent) { return scheduler.reserve(agent, false); }

  void enqueue(std::int64_t task, const task::AgentName& agent) {
    REQUIRE(reserve(agent) == Room::queue);
    scheduler.enqueue({task}, agent);
  }
};

}  // namespace

TEST_CASE("Scheduler: an agent's turns wait for its own limit, others do not wait for it") {
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
  // One queued turn of the quiet agent does not wait for three of the busy one.
  CHECK(order == std::vector<std::string>{"busy", "quiet", "busy", "busy"});
}

TEST_CASE("Scheduler: a full queue refuses and a released reservation makes room") {
  Bench bench(1, 2);
  bench.enqueue(1, kBusy);  // runs
  bench.enqueue(2, kBusy);
  REQUIRE(bench.reserve(kBusy) == Room::queue);
  CHECK(bench.reserve(kBusy) == Room::none);
  bench.scheduler.release();
  CHECK(bench.reserve(kBusy) == Room::queue);
}

TEST_CASE("Scheduler: a turn that is not wanted any more gives its place in the queue back") {
  Bench bench(1, 1);
  bench.enqueue(1, kBusy);
  bench.enqueue(2, kQuiet);
  CHECK(bench.reserve(kQuiet) == Room::none);
  bench.scheduler.remove({2}, kQuiet);
  bench.scheduler.remove({2}, kQuiet);
  bench.enqueue(3, kQuiet);
  bench.scheduler.finished(kBusy);
  CHECK(bench.started.back().first == 3);
  CHECK(bench.started.size() == 2);
}

TEST_CASE("Scheduler: a task stands in the queue once") {
  Bench bench(1, 10);
  bench.enqueue(1, kBusy);
  bench.enqueue(2, kBusy);
  bench.enqueue(2, kBusy);
  CHECK(bench.scheduler.counts().queued == 1);
  bench.scheduler.finished(kBusy);
  bench.scheduler.finished(kBusy);
  CHECK(bench.started.size() == 2);
}

TEST_CASE("Scheduler: a parent that waits for children gives its slot away and gets one back at once") {
  Bench bench(1, 10);
  bench.enqueue(1, kBusy);
  bench.enqueue(2, kQuiet);
  CHECK(bench.started.size() == 1);
  bench.scheduler.finished(kBusy);  // it waits for its child
  REQUIRE(bench.started.size() == 2);
  bench.scheduler.resumed(kBusy);
  CHECK(bench.scheduler.counts().running == 2);
}

TEST_CASE("Scheduler: once closed it starts nothing") {
  Bench bench(5, 10);
  bench.scheduler.close();
  CHECK(bench.scheduler.reserve(kBusy, true) == Room::none);
  bench.scheduler.enqueue_again({1}, kBusy);
  CHECK(bench.started.empty());
}

TEST_CASE("Scheduler: a turn gets a free slot before it is stored, and gives it back as any other") {
  Bench bench(3, 10);
  CHECK(bench.scheduler.reserve(kBusy, true) == Room::slot);
  CHECK(bench.scheduler.reserve(kBusy, true) == Room::slot);
  CHECK(bench.scheduler.counts().running == 2);
  CHECK(bench.started.empty());
  CHECK(bench.scheduler.reserve(kBusy, true) == Room::queue);  // the agent may have two
  bench.scheduler.enqueue({1}, kBusy);
  bench.scheduler.finished(kBusy);
  CHECK(bench.started.size() == 1);
}

TEST_CASE("Scheduler: a slot that is given back goes to the turn that waits, not to a newcomer") {
  Bench bench(1, 10);
  CHECK(bench.scheduler.reserve(kBusy, true) == Room::slot);
  bench.enqueue(1, kQuiet);
  bench.scheduler.finished(kBusy);
  REQUIRE(bench.started.size() == 1);
  CHECK(bench.started.back().first == 1);
  CHECK(bench.scheduler.reserve(kBusy, true) == Room::queue);
  bench.scheduler.release();
  bench.scheduler.finished(kQuiet);
  CHECK(bench.scheduler.reserve(kBusy, true) == Room::slot);
  CHECK(bench.scheduler.reserve(kBusy, false) == Room::queue);
}
