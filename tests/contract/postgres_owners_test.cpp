// The node that owns a task's turn, as a PostgresStore keeps it.
#include <string>

#include "contract/postgres_bench.h"
#include "contract/store_bench.h"

namespace postgres_owners_test {

using namespace baton;
using namespace baton::test;
using store::TaskStore;
using task::State;

namespace {

task::Change queueing(const task::TaskHead& head) {
  task::Change change = StoreBench::change(head, {});
  change.turn.emplace();
  change.turn->turn = task::TurnNumber{1};
  change.turn->state = task::TurnState::queued;
  return change;
}

}  // namespace

TEST_CASE(
    "PostgresStore: a turn belongs to the node that moved it last, and unfinished tasks are a node's own") {
  PostgresBench bench;
  const task::TaskHead head = bench.create("t1");
  const auto unfinished = [&] {
    return ids(bench.tasks->open_tasks(TaskStore::Open::unfinished, {}, 10).value());
  };
  CHECK_FALSE(bench.tasks->row(head.key)->owner);
  bench.must(queueing(head));
  const store::NodeId node = bench.tasks->row(head.key)->owner;
  CHECK(std::to_string(node.value) == bench.schema.ask("SELECT max(node_id) FROM nodes"));
  CHECK(unfinished() == Texts{"t1"});
  bench.schema.ask("UPDATE tasks SET owner = 77, version = version + 1");
  bench.rows.clear();
  CHECK(unfinished().empty());
  const store::Committed grown = bench.must(head, {delta("r", "x")});
  CHECK(grown.owner_before.value == 77);
  CHECK(grown.owner.value == 77);
  CHECK(bench.tasks->row(head.key)->owner.value == 77);
  bench.must(queueing(head));
  CHECK(bench.tasks->row(head.key)->owner.value == 77);
  task::Change running = StoreBench::change(head, {});
  running.turn.emplace();
  running.turn->state = task::TurnState::running;
  const store::Committed taken = bench.must(std::move(running));
  CHECK(taken.owner_before.value == 77);
  CHECK(taken.owner == node);
  CHECK(bench.tasks->row(head.key)->owner == node);
  task::Change resting = StoreBench::change(head, {status(State::completed)});
  resting.turn.emplace();
  resting.turn->state = task::TurnState::none;
  bench.must(std::move(resting));
  CHECK_FALSE(bench.tasks->row(head.key)->owner);
}

TEST_CASE("PostgresStore: orphans and children are found by every node") {
  PostgresBench bench;
  const task::TaskHead parent = bench.create("t1");
  const auto child = [&](const std::string& id) {
    task::Change made = StoreBench::creation(id, {status(State::submitted)}, "c-" + id);
    made.create->parent = parent.key;
    made.turn.emplace();
    made.turn->state = task::TurnState::queued;
    return bench.must(std::move(made)).head;
  };
  child("own");
  child("another's");
  bench.schema.ask("UPDATE tasks SET owner = 77 WHERE public_id <> 'own' AND parent_key > 0");
  CHECK(ids(bench.tasks->open_tasks(TaskStore::Open::children, parent.key, 10).value()).size() == 2);
  bench.must(parent, {status(State::completed)});
  CHECK(ids(bench.tasks->open_tasks(TaskStore::Open::orphans, {}, 10).value()) == Texts{"own", "another's"});
}

TEST_CASE("PostgresStore: a node adopts the turns of earlier nodes when it starts") {
  PostgresBench bench;
  bench.must(queueing(bench.create("t1")));
  bench.create("t2", "c2");
  bench.reopen();
  CHECK(ids(bench.tasks->open_tasks(TaskStore::Open::unfinished, {}, 10).value()) == Texts{"t1"});
  CHECK(bench.schema.ask("SELECT count(*) FROM tasks WHERE owner = 0") == "1");
}

}  // namespace postgres_owners_test
