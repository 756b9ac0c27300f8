#include "engine/nodes/other_nodes.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "support/engine_bench.h"
#include "support/fake_peers.h"
#include "support/patience.h"

namespace other_nodes_test {

using namespace baton;
using test::EngineBench;
using test::FakePeers;

namespace {

struct Bench {
  FakePeers peers;
  EngineBench engine{[this] {
    EngineBench::Options options;
    options.wiring.peers = &peers;
    return options;
  }()};

  // Begins a task; its turn is running when this returns.
  task::TaskKey begin() {
    const auto accepted = engine.submit(EngineBench::message("go on"));
    REQUIRE(accepted);
    running = engine.scripted().next();
    REQUIRE(running);
    return accepted->key;
  }
  // Reports a change of the task by another node, which becomes the owner of its turn.
  void change(task::TaskKey key, store::NodeId owner, bool cancels, std::int64_t version = 1'000) {
    peers.set_ends({{key, {100}, {version}, owner, cancels}});
    peers.say({{key, {100}}});
  }
  bool is(bool test::ScriptedExecutor::Running::*what) {
    return engine.scripted().wait_for([&] { return (*running).*what; });
  }

  test::ScriptedExecutor::RunningPtr running;
};

using Running = test::ScriptedExecutor::Running;

}  // namespace

TEST_CASE("OtherNodes: a turn that another node has taken is abandoned here") {
  Bench bench;
  const task::TaskKey key = bench.begin();
  bench.change(key, FakePeers::kOther, false);
  CHECK(bench.is(&Running::let_go));
  CHECK(bench.engine.wait_running(0));
}

TEST_CASE("OtherNodes: a turn whose task was deleted is abandoned at the next check") {
  Bench bench;
  bench.begin();
  bench.peers.set_ends({});
  CHECK(bench.is(&Running::let_go));
  CHECK(bench.engine.wait_running(0));
}

TEST_CASE("OtherNodes: if notifications do not arrive, tasks are checked more often than nodes") {
  Bench bench;
  bench.peers.hearing = false;
  bench.peers.alone = true;
  bench.peers.set_ends({{bench.begin(), {1}, {1}, FakePeers::kSelf}});
  bench.peers.alone = false;
  const int read = bench.peers.reads();
  CHECK(test::eventually([&] { return bench.peers.looks() >= 12; }));
  // In this order, because both numbers still grow.
  const int more = bench.peers.reads() - read, looks = bench.peers.looks();
  CHECK(3 * more < 2 * looks);
}

TEST_CASE("OtherNodes: one thread at a time looks at the other nodes, however often notifications are lost") {
  FakePeers peers;
  std::atomic<int> looking = 0;
  std::atomic<bool> overlaps = false;
  peers.before_nodes = [&] {
    if (++looking > 1) overlaps = true;
    for (int i = 0; i < 100; ++i) std::this_thread::yield();
    --looking;
  };
  EngineBench::Options options;
  options.wiring.peers = &peers;
  EngineBench engine(options);
  const auto until = std::chrono::steady_clock::now() + test::patience();
  while (peers.reads() < 50 && std::chrono::steady_clock::now() < until) peers.lose();
  CHECK(peers.reads() >= 50);
  CHECK_FALSE(overlaps);
}

TEST_CASE("OtherNodes: a turn is canceled if another node has stored its cancel") {
  Bench bench;
  const task::TaskKey key = bench.begin();
  bench.change(key, FakePeers::kSelf, true);
  CHECK(bench.is(&Running::canceled));
  bench.running->sink->finish(agents::Canceled{});
  const auto stop = bench.engine.wait(key);
  REQUIRE(stop);
  CHECK(stop->state == task::State::canceled);
}

TEST_CASE("OtherNodes: a state read before this node's own change does not affect its turn") {
  Bench bench;
  const task::TaskKey key = bench.begin();
  bench.change(key, FakePeers::kOther, true, 0);
  bench.running->sink->finish(agents::Done{});
  const auto stop = bench.engine.wait(key);
  REQUIRE(stop);
  CHECK(stop->state == task::State::completed);
  CHECK_FALSE(bench.running->canceled);
}

TEST_CASE("OtherNodes: a new follower on another node is sent this node's newest event number at once") {
  Bench bench;
  const task::TaskKey key = bench.begin();
  const auto told = [&] { return bench.peers.told(); };
  bench.peers.ask_for({{key, {100}}, {{999}, {}}});
  CHECK(told().empty());
  bench.peers.ask_for({{key, {1}}});
  REQUIRE(told().size() == 1);
  CHECK(told()[0].task == key);
  CHECK(told()[0].last.value > 1);
}

TEST_CASE("OtherNodes: a new node is sent the tasks that are followed here") {
  Bench bench;
  const task::TaskKey key = bench.begin();
  const auto follower = bench.engine.engine().live().subscribe(key, [] {});
  bench.peers.come();
  REQUIRE(bench.peers.said_to_follow().size() == 1);
  CHECK(bench.peers.said_to_follow()[0].task == key);
}

TEST_CASE(
    "OtherNodes: a new follower of a conversation is notified at once, and followers of each run's changes") {
  Bench bench;
  const task::TaskKey conversation{-5};
  bench.peers.ask_for({{conversation, {}}});
  REQUIRE(bench.peers.told().size() == 1);
  CHECK(bench.peers.told()[0].task == conversation);
  const task::TaskKey key = bench.begin();
  bench.running->sink->finish(agents::Done{});
  REQUIRE(bench.engine.wait(key));
  // The last one comes after the waiting reader has the stop.
  const auto notices = [&] {
    return std::ranges::count_if(bench.peers.told_followers(),
                                 [](const auto& one) { return one.task.value < 0; });
  };
  CHECK(test::eventually([&] { return notices() >= 2; }));
}

TEST_CASE("OtherNodes: a conversation that is followed here has news when notifications were lost") {
  Bench bench;
  std::atomic<int> news{0};
  const auto follower = bench.engine.engine().live().subscribe({-5}, [&] { ++news; });
  bench.peers.say({{{-5}, {}}});
  CHECK(news == 1);
  bench.peers.hearing = false;
  bench.peers.alone = false;
  CHECK(test::eventually([&] { return news >= 2; }));
}

}  // namespace other_nodes_test
