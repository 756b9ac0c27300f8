// How a PostgresStore handles concurrent writes of other nodes: a group that conflicts with one fails as a
// whole, and is stored when it is tried again. The other node is a plain connection.
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "base/id.h"
#include "contract/postgres_bench.h"
#include "contract/store_bench.h"
#include "store/own_context.h"

namespace postgres_races_test {

using namespace baton;
using namespace baton::test;
using base::ErrorCode;
using task::State;

namespace {

// Changes a task in the way that this node sees a change by another one.
void change_elsewhere(const PostgresBench& bench, const task::TaskHead& head) {
  bench.schema.ask("UPDATE tasks SET version = version + 1 WHERE task_key = " +
                   std::to_string(head.key.value));
}

std::string count(const PostgresBench& bench, const std::string& rows) {
  return bench.schema.ask("SELECT count(*) FROM " + rows);
}

task::Change queueing(const task::TaskHead& head) {
  task::Change change = StoreBench::change(head, {});
  change.turn.emplace();
  change.turn->turn = task::TurnNumber{1};
  change.turn->state = task::TurnState::queued;
  return change;
}

// Creates a task that is alone in its own context.
task::Change alone() {
  task::Change made = StoreBench::creation(base::make_uuid(), {status(State::submitted), user("m", "one")});
  made.create->fresh_id = made.create->fresh_context = true;
  made.create->context = store::own_context(made.create->id);
  return made;
}

task::Change joining(const task::TaskHead& first) {
  return StoreBench::creation("t2", {status(State::submitted), user("m", "two")}, first.context.value);
}

task::Change sending(const std::string& id, std::uint64_t digest) {
  task::Change made = StoreBench::creation(id, {status(State::submitted), user("m")}, "c-" + id);
  made.send = task::SendDigest{digest, 7};
  return made;
}

// Applies the changes as a group, which must fail with raced in its last change or in the commit.
void lose(PostgresBench& bench, std::vector<task::Change> changes) {
  for (task::Change& change : changes) {
    const auto applied = bench.apply(change);
    if (applied) continue;
    CHECK(applied.error().code == ErrorCode::raced);
    bench.rows.clear();
    return;
  }
  const auto committed = bench.tasks->commit();
  REQUIRE_FALSE(committed);
  CHECK(committed.error().code == ErrorCode::raced);
  bench.rows.clear();
}

void win(PostgresBench& bench, std::vector<task::Change> changes) {
  for (task::Change& change : changes) succeed(bench.apply(change));
  succeed(bench.tasks->commit());
}

}  // namespace

TEST_CASE(
    "PostgresStore: changing a task that another node has changed fails the group once, then succeeds") {
  PostgresBench bench;
  const task::TaskHead head = bench.create("t1");
  std::vector<task::Change> changes(1, StoreBench::creation("t2", {status(State::submitted)}, "c2"));
  SUBCASE("output only") {
    changes.push_back(StoreBench::change(head, {delta("r", "x")}));
  }
  SUBCASE("several outputs written together") {
    for (int i = 0; i < 3; ++i) changes.push_back(StoreBench::change(head, {delta("r", "x")}));
  }
  SUBCASE("a decision without a status") {
    changes.push_back(queueing(head));
  }
  SUBCASE("several decisions written together") {
    changes.insert(changes.end(), 2, queueing(head));
  }
  SUBCASE("a status") {
    changes.push_back(StoreBench::change(head, {status(State::working)}));
  }
  SUBCASE("output, then a status") {
    changes.push_back(StoreBench::change(head, {delta("r", "x")}));
    changes.push_back(StoreBench::change(head, {status(State::working)}));
  }
  SUBCASE("a webhook") {
    changes.push_back(StoreBench::change(head, {}));
    changes.back().push = task::PushConfig{};
    changes.back().push->id = {"p"};
    changes.back().push_configs_max = 5;
  }
  change_elsewhere(bench, head);
  lose(bench, changes);
  CHECK(count(bench, "tasks") == "1");
  CHECK(count(bench, "events") == "2");
  CHECK(count(bench, "push_configs") == "0");
  win(bench, changes);
  CHECK(count(bench, "tasks") == "2");
  CHECK(consecutive(bench.log(head)));
  CHECK(bench.head(head.key).last_event == bench.rows[head.key].head.last_event);
  CHECK(bench.head(head.key).version == bench.rows[head.key].head.version);
  succeed(bench.tasks->flush());
}

TEST_CASE("PostgresStore: a group ends at the read that finds another node's change") {
  PostgresBench bench;
  const task::TaskHead head = bench.create("t1");
  change_elsewhere(bench, head);
  task::Change output = StoreBench::change(head, {delta("r", "x")});
  succeed(bench.apply(output));
  // Looks for the context, which sends the earlier writes to the server.
  task::Change other = StoreBench::creation("t2", {status(State::submitted)}, "c1");
  CHECK(bench.apply(other).error().code == ErrorCode::raced);
  bench.rows.clear();
  bench.must(StoreBench::creation("t3", {status(State::submitted)}, "c1"));
  CHECK(count(bench, "tasks") == "2");
  CHECK(count(bench, "events") == "3");
}

TEST_CASE("PostgresStore: many changes of one task in one group are stored, also after a lost connection") {
  PostgresBench bench;
  const task::TaskHead head = bench.create("t1");
  for (const bool is_cut : {false, true}) {
    std::vector<task::Change> changes;
    for (int i = 0; i < 2; ++i) changes.push_back(StoreBench::change(head, {delta("r", "x")}));
    for (int i = 0; i < 2; ++i) changes.push_back(queueing(head));
    changes.push_back(StoreBench::change(head, {status(is_cut ? State::input_required : State::working)}));
    for (int i = 0; i < 2; ++i) changes.push_back(StoreBench::change(head, {delta("r", "x")}));
    for (task::Change& change : changes) succeed(bench.apply(change));
    // Reads the context, which sends the changes to the server; it forgets them with the connection.
    task::Change other = StoreBench::creation(is_cut ? "t3" : "t2", {status(State::submitted)}, "c1");
    succeed(bench.apply(other));
    if (is_cut) {
      bench.schema.ask(
          "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
          "WHERE application_name = 'baton' AND pid <> pg_backend_pid()");
    }
    task::Change last = queueing(head);
    succeed(bench.apply(last));
    succeed(bench.tasks->commit());
  }
  CHECK(bench.log(head).size() == 12);
  CHECK(consecutive(bench.log(head)));
  CHECK(bench.head(head.key).version == bench.rows[head.key].head.version);
  CHECK(bench.head(head.key).state == State::input_required);
}

TEST_CASE("PostgresStore: a task that another node removed is gone, even if it is cached") {
  PostgresBench bench;
  const task::TaskHead head = bench.create("t1");
  bench.schema.ask("DELETE FROM events; DELETE FROM tasks");
  lose(bench, {StoreBench::change(head, {delta("r", "x")})});
  CHECK(count(bench, "events") == "0");
  CHECK(bench.tasks->row(head.key).error().code == ErrorCode::task_not_found);
}

TEST_CASE("PostgresStore: a task whose id another node used meanwhile is refused at the second try") {
  PostgresBench bench;
  bench.create("t1");
  task::Change change = StoreBench::creation("t2", {status(State::submitted)}, "c2");
  succeed(bench.apply(change));
  bench.schema.ask(
      "INSERT INTO tasks SELECT (json_populate_record(t, '{\"task_key\": 999999, \"public_id\": \"t2\"}')).* "
      "FROM tasks t");
  CHECK(bench.tasks->commit().error().code == ErrorCode::raced);
  bench.rows.clear();
  CHECK(bench.commit(StoreBench::creation("t2", {status(State::submitted)}, "c2")).error().code ==
        ErrorCode::already_exists);
  CHECK(count(bench, "events") == "2");
}

TEST_CASE("PostgresStore: a send that another node stored is found by a read, and refused by a commit") {
  PostgresBench bench;
  const std::string now = std::to_string(base::to_ms(bench.clock.now()));
  bench.schema.ask("INSERT INTO sends VALUES (1, 7, " + now + ", 4711, 3)");
  CHECK(bench.tasks->earlier_send({1, 7}).value().task.value == 4711);
  lose(bench, {sending("t1", 1)});
  CHECK(bench.commit(sending("t1", 1)).error().code == ErrorCode::already_exists);
  CHECK(count(bench, "tasks") == "0");
  bench.must(sending("t1", 2));
  CHECK(bench.commit(sending("t2", 2)).error().code == ErrorCode::already_exists);
}

TEST_CASE("PostgresStore: a send that another node stored before the retention is replaced") {
  PostgresBench bench(std::chrono::seconds(10));
  bench.must(sending("t0", 9));
  const std::string now = std::to_string(base::to_ms(bench.clock.now()));
  bench.schema.ask("INSERT INTO sends VALUES (1, 7, " + now + ", 4711, 3)");
  bench.clock.advance(std::chrono::seconds(10));
  CHECK_FALSE(bench.tasks->earlier_send({1, 7}));
  lose(bench, {sending("t1", 1)});
  const task::TaskHead head = bench.must(sending("t1", 1)).head;
  CHECK(bench.tasks->earlier_send({1, 7}).value().task == head.key);
}

TEST_CASE("PostgresStore: a task can be changed in the same group in which another one joins its context") {
  PostgresBench bench;
  const task::TaskHead first = bench.must(alone()).head;
  win(bench, {StoreBench::change(first, {user("m", "before")}), joining(first),
              StoreBench::change(first, {user("m", "after")}), StoreBench::change(first, {delta("r", "x")})});
  bench.must(first, {user("m", "later")});
  CHECK(texts(bench.context(first.context_key).said).size() == 6);
  bench.reopen();
  CHECK(texts(bench.context(first.context_key).said).size() == 6);
}

TEST_CASE(
    "PostgresStore: a task whose context was joined on another node continues there at the second try") {
  PostgresBench bench;
  const task::TaskHead first = bench.must(alone()).head;
  const std::string key = std::to_string(first.key.value);
  bench.schema.ask("INSERT INTO contexts SELECT -task_key, agent, caller, '" + first.context.value +
                   "' FROM tasks; UPDATE tasks SET context_key = -task_key; "
                   "INSERT INTO conversation SELECT -" +
                   key + ", at_ms, " + key + ", 2 FROM events WHERE event_key & 3 = 2");
  const task::Change more = StoreBench::change(first, {user("m", "more")});
  lose(bench, {more});
  win(bench, {more});
  CHECK(texts(bench.context(first.context_key).said) == Texts{"one", "more"});
}

TEST_CASE("PostgresStore: a context is not joined on top of another node's concurrent change") {
  PostgresBench bench;
  const task::TaskHead first = bench.must(alone()).head;
  task::Change join = joining(first);
  succeed(bench.apply(join));
  change_elsewhere(bench, first);
  CHECK(bench.tasks->commit().error().code == ErrorCode::raced);
  CHECK(count(bench, "tasks") == "1");
  CHECK(count(bench, "conversation") == "0");
  bench.rows.clear();
  bench.must(joining(first));
  CHECK(texts(bench.context(first.context_key).said) == Texts{"one", "two"});
}

TEST_CASE("PostgresStore: a long log is indexed once, by the first node to do it") {
  PostgresBench bench;
  const task::TaskHead head = bench.must(alone()).head;
  const task::Change many = StoreBench::change(head, std::vector<task::EventBody>(40, user("m", "x")));
  change_elsewhere(bench, head);
  lose(bench, {many});
  CHECK(count(bench, "landmarks") == "0");
  win(bench, {many, StoreBench::change(head, {user("m", "y")})});
  CHECK(texts(bench.context(head.context_key).said).size() == 42);
}

TEST_CASE("PostgresStore: a zero total is removed, unless another node is counting at that moment") {
  PostgresBench bench;
  const task::TaskHead head = bench.create("t1");
  bench.schema.ask("INSERT INTO task_totals VALUES (77, 1, 'echo', 'ann', 'submitted', 1)");
  bench.schema.ask("INSERT INTO task_totals VALUES (78, 1, 'echo', 'ann', 'submitted', -1)");
  const std::string rows = "task_totals WHERE state = 'submitted'";
  const auto address = store::postgres::Address::read(bench.schema.url());
  REQUIRE(address);
  store::postgres::Link other(*address);
  bool is_counting = false;
  SUBCASE("no other node is counting") {}
  SUBCASE("another node is counting") {
    is_counting = true;
  }
  if (is_counting) {
    other.ask("BEGIN");
    other.ask("UPDATE task_totals SET tasks = tasks + 5 WHERE node_id = 77");
  }
  bench.must(head, {status(State::completed)});
  CHECK(count(bench, rows) == (is_counting ? "3" : "0"));
  if (is_counting) other.ask("COMMIT");
  CHECK(bench.schema.ask("SELECT coalesce(sum(tasks), 0) FROM " + rows) == (is_counting ? "5" : "0"));
}

TEST_CASE("PostgresStore: a context that another node removed meanwhile is created again at the second try") {
  PostgresBench bench;
  bench.create("t1");
  const task::Change second = StoreBench::creation("t2", {status(State::submitted), user("m")}, "c1");
  task::Change change = second;
  succeed(bench.apply(change));
  bench.schema.ask(
      "DELETE FROM tasks; DELETE FROM events; DELETE FROM conversation; DELETE FROM contexts WHERE "
      "context_key "
      "<> 0");
  CHECK(bench.tasks->commit().error().code == ErrorCode::raced);
  bench.rows.clear();
  const task::TaskHead head = bench.must(second).head;
  CHECK(bench.head(head.key).context.value == "c1");
}

TEST_CASE("PostgresStore: a context stays if its last task is removed while a task joins on another node") {
  PostgresBench bench;
  const task::TaskHead first = bench.create("t1");
  const task::TaskHead ended = bench.must(first, {status(State::completed)}).head;
  const auto address = store::postgres::Address::read(bench.schema.url());
  REQUIRE(address);
  store::postgres::Link other(*address);
  other.ask("BEGIN");
  other.ask("SELECT 1 FROM contexts WHERE public_id = 'c1' FOR KEY SHARE");
  other.ask(
      "INSERT INTO tasks SELECT (json_populate_record(t, '{\"task_key\": 999999, \"public_id\": \"t2\"}')).* "
      "FROM tasks t");
  auto removing = std::async(std::launch::async, [&] {
    auto removed = bench.retention->remove({{{ended.key, ended.version}}});
    return removed && bench.tasks->commit() && removed->size() == 1;
  });
  CHECK(eventually([&] { return count(bench, "pg_locks WHERE NOT granted") != "0"; }));
  other.ask("COMMIT");
  CHECK(removing.get());
  CHECK(bench.head({999'999}).context.value == "c1");
  CHECK_FALSE(bench.tasks->row(ended.key));
}

TEST_CASE("PostgresStore: a delivery stored while another node finishes the previous one becomes due") {
  PostgresBench bench;
  task::TaskHead head = bench.create("t1");
  task::PushConfig config;
  config.id = {"p"};
  config.url = "http://example.org/hook";
  succeed(bench.set_push(head.key, config, 5));
  bench.must(head, {status(State::working)});
  const auto first = bench.deliveries->due_deliveries(bench.clock.now(), 10).value();
  REQUIRE(first.size() == 1);
  const std::string done = "UPDATE deliveries SET state = 'delivered', due_ms = NULL WHERE delivery_key = " +
                           std::to_string(first[0].key.value);
  SUBCASE("the event is from this node") {
    task::Change change = StoreBench::change(head, {status(State::input_required)});
    succeed(bench.apply(change));
    bench.schema.ask(done);
    succeed(bench.tasks->commit());
  }
  SUBCASE("the event is the first of two in this node's group") {
    task::Change change = StoreBench::change(head, {status(State::input_required)});
    const auto asked = bench.apply(change);
    succeed(asked);
    bench.schema.ask(done);
    task::Change later = StoreBench::change(asked->head, {status(State::working)});
    succeed(bench.apply(later));
    succeed(bench.tasks->commit());
  }
  SUBCASE("the event is from the other node") {
    succeed(bench.deliveries->record({first[0].key, {}, {}, {}}));
    // Sends the recorded result to the server.
    task::Change other = StoreBench::creation("t2", {status(State::submitted)}, "c1");
    succeed(bench.apply(other));
    bench.schema.ask(
        "INSERT INTO deliveries SELECT (json_populate_record(d, '{\"delivery_key\": 999999, "
        "\"event_number\": "
        "4}')).* FROM deliveries d; UPDATE deliveries SET due_ms = NULL WHERE delivery_key = 999999");
    succeed(bench.tasks->commit());
  }
  const auto next = bench.deliveries->due_deliveries(bench.clock.now(), 10).value();
  REQUIRE(next.size() == 1);
  CHECK(next[0].event.value == 4);
}

}  // namespace postgres_races_test
