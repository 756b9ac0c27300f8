// Several PostgresStores on one database: they join, exchange notices, and take over turns.
#include <atomic>
#include <thread>

#include "contract/node_bench.h"

namespace postgres_nodes_test {

using namespace baton;
using namespace baton::test;
using base::ErrorCode;
using task::TurnState;

TEST_CASE("Peers: a node is alone until another one joins, and again after that one has left") {
  const auto schema = made_schema();
  NodeBench first(schema);
  CHECK(comes([&] { return first.peers().is_alone(); }));
  {
    NodeBench second(schema);
    CHECK_FALSE(first.peers().is_alone());
    CHECK_FALSE(second.peers().is_alone());
    CHECK(second.number() > first.number());
    CHECK(first.ear.misses == 0);
  }
  CHECK(comes([&] { return first.peers().is_alone(); }));
  CHECK(first.ear.misses == 1);
}

TEST_CASE("Peers: a node that joins sees all that the other one wrote while it believed to be alone") {
  const auto schema = made_schema();
  NodeBench first(schema);
  std::atomic<std::int64_t> alone_after = 0;
  std::atomic<bool> is_open = false, is_done = false;
  std::thread writer([&] {
    for (int i = 0; !is_done; ++i) {
      first.create("t" + std::to_string(i), "c" + std::to_string(i));
      if (is_open && first.peers().is_alone()) ++alone_after;
    }
  });
  for (int i = 0; i < 5; ++i) {
    NodeBench second(schema);
    is_open = true;
    const std::string there = first.count("tasks");
    CHECK(std::stoll(there) > 0);
    CHECK_FALSE(second.peers().is_alone());
    is_open = false;
  }
  is_done = true;
  writer.join();
  CHECK(alone_after == 0);
}

TEST_CASE("Peers: a node's notices reach the others, with the newest numbers, but not itself") {
  const auto schema = made_schema();
  NodeBench first(schema), second(schema), third(schema);
  CHECK(comes([&] { return !first.peers().is_alone(); }));
  std::vector<store::Grown> many;
  for (std::int64_t i = 1; i <= 5'000; ++i) many.push_back({{1'000'000 + i}, {1 + i % 7}});
  first.peers().notify(many);
  first.peers().notify({{{1'000'001}, {9}}});
  for (NodeBench* each : {&second, &third}) {
    CHECK(comes([&] { return each->ear.heard() == 5'000 && each->ear.last_of({1'000'001}) == 9; }));
    CHECK(each->ear.last_of({1'000'002}) == 3);
  }
  second.peers().notify({{{7}, {1}}});
  CHECK(comes([&] { return first.ear.last_of({7}) == 1; }));
  CHECK(first.ear.heard() == 1);
}

TEST_CASE("Peers: the other nodes learn which tasks a node follows") {
  const auto schema = made_schema();
  NodeBench first(schema), second(schema);
  CHECK(comes([&] { return !first.peers().is_alone(); }));
  second.peers().follow({{{7}, {3}}, {{8}, {}}});
  CHECK(comes([&] { return first.ear.followed_elsewhere().size() == 2; }));
  const auto followed = first.ear.followed_elsewhere();
  CHECK(followed[0].task.value == 7);
  CHECK(followed[0].last.value == 3);
  CHECK(followed[1].task.value == 8);
  CHECK(second.ear.followed_elsewhere().empty());
  first.peers().notify_followers({{{7}, {4}}});
  CHECK(comes([&] { return second.ear.last_of({7}) == 4; }));
  CHECK(comes([&] { return first.ear.newcomers == 1; }));
  CHECK(second.ear.newcomers == 0);
}

TEST_CASE(
    "Peers: a node whose sessions were ended learns that it may have missed notices, and gets new ones") {
  const auto schema = made_schema();
  NodeBench first(schema), second(schema);
  end_all_sessions(*schema);
  CHECK(comes([&] { return second.ear.misses > 0 && first.ear.misses > 0; }));
  CHECK(comes([&] {
    first.peers().notify({{{7}, {1}}});
    return second.ear.last_of({7}) == 1;
  }));
  first.create("t1");
  second.create("t2");
  CHECK(first.count("nodes") == "2");
}

TEST_CASE("Peers: a node reads the stops of tasks that another node wrote") {
  const auto schema = made_schema();
  NodeBench first(schema), second(schema);
  const task::TaskHead resting = first.create("t1");
  const task::TaskHead busy = second.create_busy("t2");
  auto ends = first.peers().ends({resting.key, {12'345'678}, busy.key}).value();
  std::ranges::sort(ends, {}, &store::TaskEnd::task);
  REQUIRE(ends.size() == 2);
  const bool is_first = ends[0].task == resting.key;
  const store::TaskEnd &of_resting = ends[is_first ? 0 : 1], &of_busy = ends[is_first ? 1 : 0];
  CHECK(of_resting.last == resting.last_event);
  CHECK(of_resting.owner.value == 0);
  CHECK(of_busy.version == busy.version);
  CHECK(of_busy.owner.value == second.number());
  CHECK(first.peers().ends({}).value().empty());
}

TEST_CASE("Peers: a task's stop has the id of the answered question, unless the task asks") {
  const auto schema = made_schema();
  NodeBench first(schema), second(schema);
  task::TaskHead head = second.create_busy("t1");
  const auto answered = [&] { return first.peers().ends({head.key}).value().front().answered; };
  for (const bool asks : {true, false}) {
    task::Change change;
    change.task = head.key;
    change.expected = head.version;
    change.events = {status(asks ? task::State::input_required : task::State::working)};
    change.turn.emplace().ask = "sub.7";
    head = second.must(std::move(change)).head;
    CHECK(answered() == (asks ? "" : "sub.7"));
  }
}

TEST_CASE("Peers: nodes report their identity, their load and their agents") {
  const auto schema = made_schema();
  NodeBench first(schema), second(schema);
  second.end();
  second.settings.name = "the second";
  second.settings.version = "1.2.3";
  second.open();
  std::atomic<int> running = 3;
  second.peers().announce({{{"writer"}, "ab"}, {{"editor\"s"}, "cd"}}, [&running] {
    return store::NodeReport{running, 2, true, std::chrono::milliseconds(40)};
  });
  const auto of_second = [&] {
    const auto nodes = first.peers().nodes().value();
    return nodes.size() == 2 ? nodes[1] : store::Node();
  };
  const store::NodeReport report{3, 2, true, std::chrono::milliseconds(40)};
  // A node writes its agents after its report.
  CHECK(comes([&] {
    const store::Node now = of_second();
    return now.report == report && now.database.count() > 0 && !now.agents.empty();
  }));
  const store::Node told = of_second();
  CHECK(told.id.value == second.number());
  CHECK(told.name == "the second");
  CHECK(told.version == "1.2.3");
  CHECK(told.started == second.clock.now());
  CHECK(told.lease > std::chrono::milliseconds(0));
  CHECK(told.lease <= second.settings.lease);
  REQUIRE(told.agents.size() == 2);
  CHECK(told.agents[0].name.value == "editor\"s");
  CHECK(told.agents[1].digest == "ab");
  running = 4;
  CHECK(comes([&] { return of_second().report.running == 4; }));
  CHECK_FALSE(first.peers().nodes().value()[0].name.empty());
  second.peers().announce({}, nullptr);
}

TEST_CASE("Peers: a request to drain reaches its node once, also if the node listens later") {
  const auto schema = made_schema();
  NodeBench first(schema), second(schema);
  second.peers().listen(nullptr);
  succeed(first.peers().ask_to_drain(second.peers().self()));
  CHECK(comes([&] { return second.peers().nodes().value()[1].is_asked_to_drain; }));
  CHECK(second.ear.drains == 0);
  second.peers().listen(&second.ear);
  CHECK(comes([&] { return second.ear.drains == 1; }));
  succeed(first.peers().ask_to_drain(second.peers().self()));
  succeed(first.peers().ask_to_drain(first.peers().self()));
  CHECK(comes([&] { return first.ear.drains == 1; }));
  CHECK(second.ear.drains == 1);
  CHECK(first.peers().ask_to_drain({second.number() + 1}).error().code == ErrorCode::not_found);
}

TEST_CASE("Peers: each queued turn of another node is taken by one node, and its former node gives it up") {
  const auto schema = made_schema();
  NodeBench first(schema), second(schema), third(schema);
  const auto heads = some_busy(first, 6);
  const task::TaskHead running = first.create_busy("running", TurnState::running);
  const task::TaskHead strange = first.create_busy("strange", TurnState::queued, "another");
  const task::TaskHead own = third.create_busy("own");
  const auto by_second = second.peers().take_queued({{"echo"}, {"no\"ne"}}, 4);
  const auto by_third = third.peers().take_queued({{"echo"}}, 4);  // while the other's group is open
  succeed(by_second);
  succeed(by_third);
  succeed(second.tasks->commit());
  succeed(third.tasks->commit());
  CHECK(by_second->size() == 4);
  auto taken = keys_of(*by_second);
  taken.merge(keys_of(*by_third));
  CHECK(taken == keys_of(heads));
  for (const task::TaskHead& head : *by_third) {
    CHECK(first.owner_of(head) == third.number());
    CHECK(first.head(head.key).version == head.version);
  }
  CHECK(first.owner_of(running) == first.number());
  CHECK(first.owner_of(strange) == first.number());
  CHECK(first.owner_of(own) == third.number());

  task::Change begins = StoreBench::change(heads[0], {status(task::State::working)});
  begins.turn.emplace();
  begins.turn->state = TurnState::running;
  const auto applied = first.apply(begins);
  const auto committed = applied ? first.tasks->commit() : base::fail(applied.error());
  REQUIRE(!committed);
  CHECK(committed.error().code == ErrorCode::raced);
  CHECK(second.peers().take_queued({}, 4).value().empty());
  succeed(second.tasks->commit());
}

TEST_CASE("Peers: turns stay taken if the connection is lost before the commit") {
  const auto schema = made_schema();
  NodeBench first(schema), second(schema);
  const auto heads = some_busy(first, 3);
  const auto taken = second.peers().take_queued({{"echo"}}, 2);
  succeed(taken);
  second.gate.cut_answer_with("COMMIT");
  succeed(second.tasks->commit());
  CHECK(second.gate.cuts() == 1);
  for (const task::TaskHead& head : *taken) CHECK(first.owner_of(head) == second.number());
  const auto more = second.peers().take_queued({{"echo"}}, 2);
  succeed(more);
  end_all_sessions(*schema);
  succeed(second.tasks->commit());
  REQUIRE(more->size() == 1);
  CHECK(first.owner_of(more->at(0)) == second.number());
  CHECK(first.head(more->at(0).key).version.value == heads[2].version.value + 1);
}

TEST_CASE("PostgresStore: old tasks are found by their time, even if another node creates few tasks") {
  const auto schema = made_schema();
  NodeBench quiet(schema), busy(schema);
  const task::TaskHead first = quiet.create("t1", "c1"), old = busy.create("t2", "c2");
  CHECK(first.key < old.key);
  const base::Timestamp made = busy.clock.now();
  for (NodeBench* node : {&quiet, &busy}) node->clock.advance(std::chrono::hours(24));
  const task::TaskHead young = quiet.create("t3", "c3");
  const auto last = busy.retention->last_made(made + store::kKeysOutOfOrder);
  succeed(last);
  CHECK(*last >= old.key);
  CHECK(*last < young.key);
}

TEST_CASE("PostgresStore: a node whose clock is behind does not make the others forget their sends") {
  const auto schema = made_schema();
  NodeBench bench(schema), behind(schema);
  task::Change change = StoreBench::creation("t1", {status(task::State::submitted), user("m")});
  change.send = task::SendDigest{1, 7};
  const task::TaskHead head = bench.must(std::move(change)).head;
  behind.end();
  behind.clock.advance(-std::chrono::hours(240));
  behind.open();
  const auto earlier = bench.tasks->earlier_send({1, 7});
  succeed(earlier);
  CHECK(earlier->task == head.key);
}

TEST_CASE("PostgresStore: tables that another node is using are not upgraded") {
  PostgresBench bench;
  bench.schema.ask("DELETE FROM migrations WHERE number > 1");
  const ManualClock clock;
  const auto opened = store::PostgresStore::open(bench.settings, clock);
  REQUIRE(!opened);
  CHECK(opened.error().code == ErrorCode::already_exists);
  CHECK(opened.error().for_caller.find("stop all other servers") != std::string::npos);
  bench.create("t1");
}

TEST_CASE("Peers: a dead node's task waits for a node that has its agent") {
  const auto schema = made_schema();
  NodeBench first(schema), other(schema);
  other.peers().announce({{{"other"}, ""}}, nullptr);
  const task::TaskHead mine = first.create_busy("t1");
  first.kill();
  CHECK(comes([&] { return schema->ask("SELECT count(*) FROM nodes") == "1"; }));
  CHECK(other.owner_of(mine) == first.number());
  CHECK(other.ear.adopted().empty());
  NodeBench third(schema);
  CHECK(comes([&] { return third.ear.adopted() == std::multiset<task::TaskKey>{mine.key}; }));
  CHECK(third.owner_of(mine) == third.number());
}

TEST_CASE("Peers: a node learns whether another node follows a task") {
  const auto schema = made_schema();
  NodeBench first(schema), second(schema), third(schema);
  const task::TaskKey task{7};
  CHECK_FALSE(first.peers().is_followed_elsewhere(task));
  third.ear.followed = task;
  CHECK(first.peers().is_followed_elsewhere(task));
  first.ear.followed = task;
  CHECK_FALSE(third.peers().is_followed_elsewhere(task::TaskKey{8}));
}

TEST_CASE(
    "Peers: a node without notifications detects it, tells all nodes, and assumes that tasks are followed") {
  const auto schema = made_schema();
  NodeBench first(schema), second(schema);
  CHECK(first.peers().hears());
  first.gate.lose_answers_with("baton_test_");  // the channel's name
  first.peers().notify({{{7}, {1}}});
  CHECK(comes([&] { return !first.peers().hears(); }));
  CHECK(first.peers().is_followed_elsewhere({7}));
  first.peers().notify_followers({{{8}, {2}}});
  CHECK(comes([&] { return second.ear.last_of({8}) == 2; }));
  CHECK(second.peers().hears());
  first.gate.lose_answers_with(nullptr);
  first.peers().notify({{{7}, {2}}});
  CHECK(comes([&] { return first.peers().hears(); }));
  CHECK_FALSE(first.peers().is_followed_elsewhere({7}));
}

TEST_CASE("Peers: another node can claim a name after it was released") {
  const auto schema = made_schema();
  NodeBench first(schema), second(schema);
  auto held = first.peers().claim({}, "a").value();
  REQUIRE(held);
  CHECK(first.peers().claim({}, "a").value());  // a node's own claims do not conflict
  CHECK_FALSE(second.peers().claim({}, "a").value());
  CHECK(second.peers().claim({}, "b").value());
  held.reset();
  CHECK(comes([&] { return second.peers().claim({}, "a").value() != nullptr; }));
}

TEST_CASE("Peers: a claim ends with its session, and a late release does not end another node's claim") {
  const auto schema = made_schema();
  NodeBench first(schema), second(schema);
  auto lost = first.peers().claim({}, "a").value();
  REQUIRE(lost);
  first.gate.cut_all();
  store::Peers::Claim now;
  CHECK(comes([&] { return (now = second.peers().claim({}, "a").value()) != nullptr; }));
  lost.reset();
  CHECK_FALSE(first.peers().claim({}, "a").value());
}

TEST_CASE("Peers: a caller with many claims leaves some for other callers") {
  const auto schema = made_schema();
  NodeBench first(schema), second(schema);
  std::vector<store::Peers::Claim> held;
  auto next = first.peers().claim({"greedy"}, "0");
  for (int made = 1; next && made < 1'000; ++made) {
    held.push_back(*next);
    next = first.peers().claim({"greedy"}, std::to_string(made));
  }
  REQUIRE_FALSE(next);
  CHECK(next.error().code == base::ErrorCode::overloaded);
  CHECK(first.peers().claim({"modest"}, "one").value());
  held.pop_back();
  CHECK(first.peers().claim({"greedy"}, "again").value());
}

TEST_CASE("Peers: a node is out of touch while its database does not answer") {
  const auto schema = made_schema();
  NodeBench bench(schema);
  CHECK(bench.peers().is_in_touch());
  bench.gate.freeze(true);
  CHECK(comes([&] { return !bench.peers().is_in_touch(); }));
  bench.gate.freeze(false);
  CHECK(comes([&] { return bench.peers().is_in_touch(); }));
}

TEST_CASE("Link: a server that is silent for longer than the limit counts as lost") {
  const auto schema = made_schema();
  NodeBench bench(schema);
  const auto address = store::postgres::Address::read(bench.settings.url);
  REQUIRE(address);
  store::postgres::Link link(*address);
  link.set_patience(patience());
  CHECK(link.ask_text("SELECT 'yes'") == "yes");
  bench.gate.freeze(true);
  link.set_patience(std::chrono::milliseconds(100));
  CHECK_THROWS_WITH_AS(link.ask("SELECT 'no'"), doctest::Contains("does not answer"),
                       store::postgres::LinkFailure);
  CHECK(link.is_lost());
}

TEST_CASE("Link: a server that accepts a connection and then does not answer counts as lost") {
  const auto schema = made_schema();
  NodeBench bench(schema);
  const auto address = store::postgres::Address::read(bench.settings.url);
  REQUIRE(address);
  bench.gate.lose_answers_with("set_config");
  CHECK_THROWS_WITH_AS(store::postgres::Link(*address, std::chrono::milliseconds(100)),
                       doctest::Contains("does not answer"), store::postgres::LinkFailure);
  bench.gate.lose_answers_with(nullptr);
}

}  // namespace postgres_nodes_test
