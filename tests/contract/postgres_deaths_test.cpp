// Several PostgresStores on one database: a store that dies, freezes or leaves is replaced once.
#include <future>
#include <memory>
#include <optional>
#include <thread>

#include "contract/node_bench.h"
#include "store/postgres/lane/nodes.h"

namespace postgres_deaths_test {

using namespace baton;
using namespace baton::test;
using task::TaskKey;

namespace {

// The lease of a store whose end a test waits for.
std::chrono::milliseconds short_lease() {
  return patience() / 40;
}

// Sets the schema's own clock, which the nodes of `use_own_clock` take for the database's.
void set_clock_back(const Schema& schema, const std::string& interval) {
  schema.ask(
      "CREATE OR REPLACE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql AS "
      "'SELECT pg_catalog.clock_timestamp() - interval ''" +
      interval + "'''");
}
void use_own_clock(NodeBench& node) {
  node.end();
  node.settings.url += "%2Cpg_catalog";  // searched after the schema
  node.open();
  node.peers().listen(&node.ear);
  node.peers().announce({{{"echo"}, ""}}, nullptr);
}

}  // namespace

TEST_CASE("Peers: the unfinished tasks of a killed node are adopted once, and it cannot write any more") {
  const auto schema = made_schema();
  NodeBench first(schema), second(schema), third(schema);
  std::promise<std::string> told;
  first.end();
  first.settings.on_lost = [&told](const std::string& why) { told.set_value(why); };
  first.open();
  first.peers().listen(&first.ear);
  const auto heads = some_busy(first, 20);
  first.create("resting");
  const task::TaskHead others = second.create_busy("others");
  task::Change late = StoreBench::change(heads[0], {delta("r", "late")});
  first.kill();
  CHECK(comes([&] { return second.ear.adopted().size() + third.ear.adopted().size() >= heads.size(); }));
  auto adopted = second.ear.adopted();
  adopted.merge(third.ear.adopted());
  CHECK(adopted == keys_of(heads));
  for (const task::TaskHead& head : heads) {
    const auto row = second.tasks->row(head.key).value();
    CHECK((row.owner.value == second.number() || row.owner.value == third.number()));
    CHECK(row.head.version.value == head.version.value + 1);
  }
  CHECK(second.owner_of(others) == second.number());
  CHECK(second.count("nodes") == "2");
  CHECK(schema->ask("SELECT sum(tasks) FROM task_totals") == "1");

  first.gate.shut(false);
  const bool is_stored = first.apply(late) && first.tasks->commit();
  CHECK_FALSE(is_stored);
  CHECK(comes([&] { return !first.tasks->flush(); }));
  CHECK(heard(told) == "another Baton has taken over the database");
  CHECK(second.head(heads[0].key).last_event == heads[0].last_event);
}

TEST_CASE(
    "Peers: running turns are recorded as crashed if their node was killed, not if it left or is frozen") {
  const auto schema = made_schema();
  NodeBench first(schema, short_lease()), second(schema);
  const task::TaskHead runs = first.create_busy("runs", task::TurnState::running);
  const task::TaskHead queued = first.create_busy("queued");
  second.create_busy("there", task::TurnState::running);
  const auto adopted = [&] { return second.ear.adopted() == keys_of({runs, queued}); };
  SUBCASE("killed") {
    first.kill();
    CHECK(comes(adopted));
    const auto noted = second.operators->crashed_turns();
    REQUIRE(noted);
    REQUIRE(noted->size() == 1);
    CHECK(noted->front().task == runs.key);
    CHECK(noted->front().seen == store::CrashedTurn::Seen::death);
  }
  SUBCASE("left") {
    first.end();
    CHECK(comes(adopted));
    CHECK(second.operators->crashed_turns()->empty());
  }
  SUBCASE("frozen") {
    first.gate.freeze(true);
    CHECK(comes(adopted));
    CHECK(second.operators->crashed_turns()->empty());
    first.gate.freeze(false);
  }
}

TEST_CASE("Peers: a webhook's deliveries belong to the node that made them due, until that node is dead") {
  const auto schema = made_schema();
  NodeBench first(schema), second(schema);
  const auto due = [](const NodeBench& node) {
    return node.deliveries->due_deliveries(node.clock.now(), 10).value().size();
  };
  const auto with_webhook = [](NodeBench& node, const std::string& id) {
    const task::TaskHead head = node.create(id, "c-" + id);
    task::PushConfig config;
    config.id = {"p"};
    config.url = "http://example.org/hook";
    succeed(node.set_push(head.key, config, 5));
    return node.must(head, {status(task::State::working)}).head;
  };
  const task::TaskHead head = with_webhook(first, "t1");
  with_webhook(second, "t2");
  CHECK(due(first) == 1);
  CHECK(due(second) == 1);
  CHECK(second.deliveries->next_due().value().has_value());
  SUBCASE("a node that finished one continues with the next, whichever node stored it") {
    second.must(head, {status(task::State::input_required)});
    CHECK(due(second) == 1);
    const auto sent = first.deliveries->due_deliveries(first.clock.now(), 10).value();
    REQUIRE(sent.size() == 1);
    succeed(first.deliveries->record({sent[0].key, {}, {}, {}}));
    succeed(first.tasks->commit());
    const auto next = first.deliveries->due_deliveries(first.clock.now(), 10).value();
    REQUIRE(next.size() == 1);
    CHECK(next[0].event.value > sent[0].event.value);
    CHECK(due(second) == 1);
  }
  SUBCASE("a dead node is replaced") {
    first.kill();
    CHECK(comes([&] { return due(second) == 2; }));
  }
  SUBCASE("a node that leaves is replaced") {
    first.end();
    CHECK(comes([&] { return due(second) == 2; }));
  }
  SUBCASE("the next node gets the deliveries of all that left") {
    first.end();
    second.end();
    second.open();
    CHECK(due(second) == 2);
  }
}

TEST_CASE("Peers: a frozen node is replaced when its lease is over, and ends when it thaws") {
  const auto schema = made_schema();
  NodeBench first(schema, short_lease()), second(schema);
  const auto heads = some_busy(first, 3);
  task::Change begun = StoreBench::change(heads[1], {delta("r", "half")});
  succeed(first.apply(begun));
  // Reads the context, which sends the earlier writes to the server; the group stays open there.
  task::Change joins = StoreBench::creation("more", {status(task::State::submitted), user("m")}, "c-t0");
  succeed(first.apply(joins));
  first.gate.freeze(true);
  CHECK(comes([&] { return second.ear.adopted() == keys_of(heads); }));
  first.gate.freeze(false);
  CHECK(comes([&] { return !first.tasks->flush(); }));
  CHECK(first.tasks->flush().error().for_log.find("has taken over") != std::string::npos);
  CHECK_FALSE(first.tasks->commit());
  CHECK(second.head(heads[1].key).last_event == heads[1].last_event);
  CHECK(comes([&] { return second.peers().is_alone(); }));
}

TEST_CASE("Peers: a dead node is replaced soon even if the database's clock was set back by years") {
  const auto schema = made_schema();
  set_clock_back(*schema, "0 s");
  NodeBench first(schema), second(schema);
  use_own_clock(second);
  const auto heads = some_busy(first, 3);
  SUBCASE("killed") {
    first.kill();
  }
  SUBCASE("frozen") {
    first.gate.freeze(true);
  }
  set_clock_back(*schema, "10 years");
  CHECK(comes([&] { return second.ear.adopted() == keys_of(heads); }));
  CHECK(comes([&] { return second.peers().is_alone(); }));
}

TEST_CASE("Peers: if all nodes were frozen for longer than their leases, all of them stay") {
  const auto schema = made_schema();
  NodeBench first(schema, short_lease()), second(schema, short_lease());
  const auto heads = some_busy(first, 3);
  first.gate.freeze(true);
  second.gate.freeze(true);
  CHECK(comes([&] {
    return schema->ask("SELECT max(lease_until) < clock_timestamp() - interval '1 second' FROM nodes") == "t";
  }));
  second.gate.freeze(false);
  first.gate.freeze(false);
  const std::string renewed = "SELECT min(lease_until) > clock_timestamp() FROM nodes";
  CHECK(comes([&] { return schema->ask(renewed) == "t"; }));
  CHECK(schema->ask("SELECT count(*) FROM nodes") == "2");
  first.create("t-first");
  second.create("t-second");
  CHECK(second.ear.adopted().empty());
  CHECK(first.owner_of(heads[0]) == first.number());
}

TEST_CASE("Peers: a node that leaves hands over its unfinished tasks immediately") {
  const auto schema = made_schema();
  constexpr std::chrono::hours kLong(1);
  NodeBench first(schema, kLong), second(schema, kLong);
  const auto heads = some_busy(first, 5);
  first.peers().leave();
  CHECK(comes([&] { return second.ear.adopted() == keys_of(heads); }));
  CHECK(second.peers().nodes().value().size() == 1);
  CHECK_FALSE(first.peers().is_alone());
  CHECK_FALSE(first.peers().leads());
  task::Change late = StoreBench::change(heads[0], {delta("r", "late")});
  CHECK_FALSE((first.apply(late) && first.tasks->commit()));
}

TEST_CASE("Peers: tasks left by the last node belong to the next node that opens the database") {
  const auto schema = made_schema();
  NodeBench first(schema, std::chrono::hours(1));
  const auto heads = some_busy(first, 3);
  first.peers().leave();
  first.end();
  schema->ask("UPDATE tasks SET owner = 0 WHERE public_id = 't1'");
  const NodeBench next(schema);
  for (const task::TaskHead& head : heads) {
    CHECK(next.owner_of(head) == next.number());
    CHECK(next.head(head.key).version == head.version);
  }
  CHECK(next.ear.misses == 0);
  CHECK(next.count("nodes") == "1");
}

TEST_CASE("Peers: if two nodes consider each other dead, one of them stays") {
  PostgresBench made;
  made.close();
  const Schema& schema = made.schema;
  const auto address = store::postgres::Address::read(schema.url());
  REQUIRE(address);
  for (int round = 0; round < 20; ++round) {
    CAPTURE(round);
    constexpr std::chrono::milliseconds kLease(60'000);
    store::postgres::Link one(*address), other(*address);
    store::postgres::forget_nodes(one);
    const auto first = store::postgres::enter(one, {"a", "", {}, kLease});
    const auto second = store::postgres::enter(other, {"b", "", {}, kLease});
    const auto seen = [&](store::postgres::Link& by, std::int64_t node) {
      return store::postgres::renew(by, node, {kLease, node})->others.at(0);
    };
    const auto of_second = seen(one, first);
    const auto of_first = seen(other, second);
    auto second_now = of_second;  // its latest statement renewed its lease
    second_now.lease = schema.ask("SELECT lease_until FROM nodes WHERE node_id = " + std::to_string(second));
    store::postgres::Taken taken, taken_beside;
    bool by_second = false;
    std::thread beside([&] {
      by_second = store::postgres::take_over(other, second, kLease, of_first, nullptr, taken_beside);
    });
    const bool by_first = store::postgres::take_over(one, first, kLease, second_now, nullptr, taken);
    beside.join();
    CHECK(by_first != by_second);
    CHECK(schema.ask("SELECT count(*) FROM nodes") == "1");
  }
}

TEST_CASE("Peers: tasks are adopted even if the answer to the takeover was lost") {
  const auto schema = made_schema();
  NodeBench first(schema), second(schema);
  const auto heads = some_busy(first, 20);
  CHECK(comes([&] { return !second.peers().is_alone(); }));
  const auto address = store::postgres::Address::read(schema->url());
  REQUIRE(address);
  store::postgres::Link link(*address);
  link.ask(
      "CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'it is gone'; "
      "RETURN NULL; END $$");
  link.ask(
      "CREATE CONSTRAINT TRIGGER tell AFTER DELETE ON nodes DEFERRABLE INITIALLY DEFERRED FOR EACH ROW "
      "EXECUTE FUNCTION tell()");
  second.gate.cut_answer_with("it is gone");
  first.kill();
  CHECK(comes([&] { return second.ear.adopted() == keys_of(heads); }));
  CHECK(second.owner_of(heads[0]) == second.number());
}

TEST_CASE("Peers: one node leads, and another one after it has left") {
  const auto schema = made_schema();
  auto first = std::make_unique<NodeBench>(schema);
  auto second = std::make_unique<NodeBench>(schema);
  CHECK(comes([&] { return first->peers().leads(); }));
  CHECK_FALSE(second->peers().leads());
  first->kill();
  CHECK(comes([&] { return second->peers().leads(); }));
  CHECK_FALSE(first->peers().leads());
  const NodeBench third(schema);
  second.reset();
  CHECK(comes([&] { return third.peers().leads(); }));
}

}  // namespace postgres_deaths_test
