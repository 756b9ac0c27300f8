// The contract of every DeliveryStore, and of its push configs.
#include <map>
#include <utility>

#include "contract/store_bench.h"

namespace delivery_store_test {

using namespace baton;
using namespace baton::test;
using base::Duration;
using base::ErrorCode;
using store::DeliveryResult;
using task::State;

namespace {

task::PushConfig config(const std::string& id, const std::string& url = "http://example.org/hook") {
  task::PushConfig made;
  made.id = {id};
  made.url = url;
  made.token = "token";
  made.schemes = {"Bearer", "Basic \"x\""};
  made.credentials = "secret";
  made.authentication_extra = {R"({"schemes": [] })"};
  made.version = task::ProtocolVersion::v0_2;
  return made;
}

std::vector<store::Delivery> due(StoreBench& bench, int limit = 100) {
  auto found = bench.deliveries->due_deliveries(bench.clock.now(), limit);
  REQUIRE(found.has_value());
  return std::move(*found);
}

DeliveryResult outcome(const store::Delivery& delivery, DeliveryResult::Kind kind,
                       base::Timestamp next = {}) {
  return {delivery.key, kind, next, kind == DeliveryResult::Kind::delivered ? "" : "refused"};
}

using Numbers = std::vector<std::int64_t>;

// Delivers all due deliveries of a config, and returns their events.
Numbers heard(StoreBench& bench, const std::string& config_id) {
  Numbers events;
  for (bool found = true; found;) {
    found = false;
    for (const store::Delivery& delivery : due(bench)) {
      if (delivery.config.id.value != config_id) continue;
      found = true;
      events.push_back(delivery.event.value);
      succeed(bench.record(outcome(delivery, DeliveryResult::Kind::delivered)));
    }
  }
  return events;
}

task::TaskHead with_push(StoreBench& bench, const std::string& id, const std::string& config_id = "p1") {
  task::Change change = StoreBench::creation(id, {status(State::submitted), user("m")});
  change.push = config(config_id);
  change.push_configs_max = 1;
  store::Committed made = bench.must(std::move(change));
  CHECK(made.deliveries == 1);
  return made.head;
}

}  // namespace

STORE_TEST_CASE("TaskStore: push configs are read back complete, in order of creation") {
  const task::TaskHead head = bench.create("t1");
  CHECK(bench.set_push(head.key, config("p2"), 2).has_value());
  CHECK(bench.set_push(head.key, config("p1"), 2).has_value());
  bench.reopen();
  const std::vector<task::PushConfig> configs = bench.configs(head);
  REQUIRE(configs.size() == 2);
  const task::PushConfig& first = configs[0];
  CHECK(first.id.value == "p2");
  CHECK(first.url == "http://example.org/hook");
  CHECK(first.token == "token");
  CHECK(first.schemes == Texts{"Bearer", "Basic \"x\""});
  CHECK(first.credentials == "secret");
  CHECK(first.authentication_extra.text == R"({"schemes": [] })");
  CHECK(first.version == task::ProtocolVersion::v0_2);
  CHECK(configs[1].id.value == "p1");
}

STORE_TEST_CASE("TaskStore: a config above the limit is refused, replacing one is allowed") {
  const task::TaskHead head = bench.create("t1");
  CHECK(bench.set_push(head.key, config("p1"), 1).has_value());
  CHECK(bench.set_push(head.key, config("p2"), 1).error().code == ErrorCode::too_large);
  CHECK(bench.set_push(head.key, config("p1", "http://example.org/new"), 1).has_value());
  CHECK(bench.configs(head).size() == 1);
  CHECK(bench.configs(head).at(0).url == "http://example.org/new");
  CHECK(bench.set_push({99}, config("p1"), 1).error().code == ErrorCode::task_not_found);
}

STORE_TEST_CASE(
    "TaskStore: a change with a config above the limit is not stored, one that replaces a config is") {
  const task::TaskHead head = with_push(bench, "t1");
  const auto said = [&](const std::string& message, const task::PushConfig& with) {
    task::Change change = StoreBench::change(head, {status(State::working), user(message)});
    change.send = task::SendDigest{7, 7};
    change.push = with;
    change.push_configs_max = 1;
    change.turn.emplace();
    change.turn->ask = message;
    return bench.commit(std::move(change));
  };
  CHECK(said("m2", config("p2")).error().code == ErrorCode::too_large);
  for (const bool reopened : {false, true}) {
    CAPTURE(reopened);
    CHECK(bench.log(head).size() == 2);
    CHECK(bench.head(head.key).version == head.version);
    CHECK(bench.head(head.key).ask.empty());
    CHECK(bench.configs(head).size() == 1);
    CHECK(bench.tasks->earlier_send({7, 7}).error().code == ErrorCode::not_found);
    bench.reopen();
  }
  CHECK(heard(bench, "p1") == Numbers{1});

  succeed(said("m3", config("p1", "http://example.org/new")));
  CHECK(bench.log(head).size() == 4);
  REQUIRE(bench.configs(head).size() == 1);
  CHECK(bench.configs(head).at(0).url == "http://example.org/new");
  CHECK(heard(bench, "p1") == Numbers{3});
}

STORE_TEST_CASE("TaskStore: a new task with a config is refused if no configs are allowed") {
  task::Change change = StoreBench::creation("t1", {status(State::submitted), user("m")});
  change.push = config("p1");
  change.push_configs_max = 0;
  CHECK(bench.commit(std::move(change)).error().code == ErrorCode::too_large);
  CHECK(bench.tasks->find({{"ann"}, {"echo"}, {"t1"}}).error().code == ErrorCode::task_not_found);
  CHECK(with_push(bench, "t1").key.value > 0);
}

STORE_TEST_CASE("DeliveryStore: a config from before 1.0 gets each status, and no other events") {
  const task::TaskHead head = with_push(bench, "t1");
  succeed(bench.set_push(head.key, config("p2"), 10));
  CHECK(bench.must(head, {delta("r", "x"), user("m2")}).deliveries == 0);
  CHECK(bench.must(head, {status(State::working), status(State::completed)}).deliveries == 4);
  CHECK(bench.deliveries->delivery_counts()->waiting == 5);
  const task::TaskHead silent = bench.create("t2");
  CHECK(bench.must(silent, {status(State::working)}).deliveries == 0);
}

STORE_TEST_CASE("DeliveryStore: a 1.0 config gets every event that a stream shows, in the log's order") {
  const task::TaskHead head = with_push(bench, "t1");
  task::PushConfig newer = config("p2");
  newer.version = task::ProtocolVersion::v1_0;
  succeed(bench.set_push(head.key, newer, 10));
  bench.reopen();
  CHECK(bench.must(head, {status(State::working), delta("r", "x"), user("m2")}).deliveries == 3);
  CHECK(bench.must(head, {chunk("a", "y", false)}).deliveries == 1);
  CHECK(heard(bench, "p1") == Numbers{1, 3});
  CHECK(heard(bench, "p2") == Numbers{3, 4, 6});

  newer.version = task::ProtocolVersion::v0_3;
  succeed(bench.set_push(head.key, newer, 10));
  CHECK(bench.must(head, {delta("r", "z")}).deliveries == 0);
  CHECK(bench.must(head, {status(State::completed)}).deliveries == 2);
}

STORE_TEST_CASE("DeliveryStore: a delivery has its task, event, config and times") {
  const task::TaskHead head = with_push(bench, "t1");
  const base::Timestamp then = bench.clock.now();
  bench.clock.advance(Duration(50));
  const std::vector<store::Delivery> found = due(bench);
  REQUIRE(found.size() == 1);
  CHECK(found[0].task == head.key);
  CHECK(found[0].event.value == 1);
  CHECK(found[0].config.url == "http://example.org/hook");
  CHECK(found[0].config.schemes == Texts{"Bearer", "Basic \"x\""});
  CHECK(found[0].attempts == 0);
  CHECK(found[0].created_at == then);
  CHECK(found[0].due == then);
  CHECK(found[0].config_key.value > 0);
}

STORE_TEST_CASE("DeliveryStore: only the first delivery of each config is due, then the next") {
  const task::TaskHead head = with_push(bench, "t1");
  bench.must(head, {status(State::working), status(State::completed)});
  with_push(bench, "t2");
  std::vector<std::int64_t> order;
  for (int i = 0; i < 3; ++i) {
    const std::vector<store::Delivery> found = due(bench);
    REQUIRE(found.size() == 2);
    const store::Delivery& mine = found[0].task == head.key ? found[0] : found[1];
    order.push_back(mine.event.value);
    CHECK(bench.record(outcome(mine, DeliveryResult::Kind::delivered)).has_value());
  }
  CHECK(order == std::vector<std::int64_t>{1, 3, 4});
  CHECK(due(bench).size() == 1);
  CHECK(due(bench, 0).empty());
  CHECK(bench.deliveries->delivery_counts()->waiting == 1);
}

STORE_TEST_CASE(
    "DeliveryStore: a retry waits for its time and holds back later deliveries of its config only") {
  const task::TaskHead head = with_push(bench, "t1");
  bench.must(head, {status(State::working)});
  succeed(bench.set_push(head.key, config("p2"), 10));
  const store::Delivery first = due(bench).at(0);
  const base::Timestamp later = bench.clock.now() + Duration(1000);
  CHECK(bench.record(outcome(first, DeliveryResult::Kind::retry, later)).has_value());
  CHECK(due(bench).empty());
  CHECK(bench.deliveries->next_due().value() == later);
  bench.must(head, {status(State::completed)});
  REQUIRE(due(bench).size() == 1);
  CHECK(due(bench)[0].config.id.value == "p2");

  bench.clock.advance(Duration(1000));
  const std::vector<store::Delivery> found = due(bench);
  REQUIRE(found.size() == 2);
  const store::Delivery& again = found[0].config.id.value == "p1" ? found[0] : found[1];
  CHECK(again.key == first.key);
  CHECK(again.attempts == 1);
  CHECK(again.event.value == 1);
}

STORE_TEST_CASE("DeliveryStore: a delivery given up is counted, and the next becomes due") {
  const task::TaskHead head = with_push(bench, "t1");
  bench.must(head, {status(State::working)});
  const store::Delivery first = due(bench).at(0);
  CHECK(bench.record(outcome(first, DeliveryResult::Kind::given_up)).has_value());
  CHECK(bench.deliveries->delivery_counts()->given_up == 1);
  CHECK(bench.deliveries->delivery_counts()->waiting == 1);
  CHECK(due(bench).at(0).event.value == 3);
  CHECK(bench.record(outcome(first, DeliveryResult::Kind::delivered)).error().code == ErrorCode::not_found);
}

STORE_TEST_CASE("DeliveryStore: results recorded in one group have the same effect as one by one") {
  for (const char* id : {"t1", "t2", "t3"}) bench.must(with_push(bench, id), {status(State::working)});
  const auto first = due(bench);
  REQUIRE(first.size() == 3);
  const store::DeliveryKey unknown{first[2].key.value + 1'000};
  bench.deliveries->expect({first[0].key, unknown, first[1].key, first[2].key});
  succeed(bench.deliveries->record(outcome(first[0], DeliveryResult::Kind::delivered)));
  succeed(bench.deliveries->record(outcome(first[1], DeliveryResult::Kind::retry, bench.clock.now())));
  succeed(bench.deliveries->record({unknown, DeliveryResult::Kind::delivered, {}, ""}));
  const auto again = bench.deliveries->record(outcome(first[0], DeliveryResult::Kind::delivered));
  CHECK(again.error().code == ErrorCode::not_found);
  succeed(bench.deliveries->record(outcome(first[2], DeliveryResult::Kind::given_up)));
  succeed(bench.tasks->commit());
  const auto next = due(bench);
  REQUIRE(next.size() == 3);
  std::map<task::TaskKey, std::pair<std::int64_t, int>> seen;  // event, attempts
  for (const store::Delivery& one : next) seen[one.task] = {one.event.value, one.attempts};
  CHECK(seen[first[0].task] == std::pair<std::int64_t, int>(3, 0));
  CHECK(seen[first[1].task] == std::pair<std::int64_t, int>(first[1].event.value, 1));
  CHECK(seen[first[2].task] == std::pair<std::int64_t, int>(3, 0));
}

STORE_TEST_CASE("DeliveryStore: the next due time follows the deliveries") {
  CHECK_FALSE(bench.deliveries->next_due()->has_value());
  with_push(bench, "t1");
  const base::Timestamp first = bench.clock.now();
  bench.clock.advance(Duration(7));
  with_push(bench, "t2");
  CHECK(bench.deliveries->next_due().value() == first);
  for (const store::Delivery& delivery : due(bench)) {
    succeed(bench.record(outcome(delivery, DeliveryResult::Kind::delivered)));
  }
  CHECK_FALSE(bench.deliveries->next_due()->has_value());
}

STORE_TEST_CASE(
    "DeliveryStore: deliveries survive a restart, in order, and use their config's current address") {
  const task::TaskHead head = with_push(bench, "t1");
  bench.must(head, {status(State::working)});
  bench.reopen();
  bench.must(head, {status(State::completed)});
  succeed(bench.set_push(head.key, config("p1", "http://example.org/moved"), 10));
  std::vector<std::int64_t> order;
  while (!due(bench).empty()) {
    const store::Delivery next = due(bench).at(0);
    CHECK(next.config.url == "http://example.org/moved");
    order.push_back(next.event.value);
    succeed(bench.record(outcome(next, DeliveryResult::Kind::delivered)));
  }
  CHECK(order == std::vector<std::int64_t>{1, 3, 4});
}

STORE_TEST_CASE("DeliveryStore: a deleted config gets no more deliveries, the others are unaffected") {
  const task::TaskHead head = with_push(bench, "t1");
  succeed(bench.set_push(head.key, config("p2"), 10));
  bench.must(head, {status(State::working)});
  CHECK(bench.deliveries->delivery_counts()->waiting == 3);
  CHECK(bench.drop_push(head.key, "p1").has_value());
  CHECK(bench.deliveries->delivery_counts()->waiting == 1);
  CHECK(bench.must(head, {status(State::completed)}).deliveries == 1);
  bench.reopen();
  REQUIRE(bench.configs(head).size() == 1);
  CHECK(bench.configs(head).at(0).id.value == "p2");
  CHECK(heard(bench, "p2") == Numbers{3, 4});
  CHECK(due(bench).empty());
}

STORE_TEST_CASE("DeliveryStore: deleting a missing config of an existing task succeeds") {
  const task::TaskHead head = with_push(bench, "t1");
  const task::TaskHead other = with_push(bench, "t2");
  CHECK(bench.drop_push(head.key, "none").has_value());
  CHECK(bench.drop_push(head.key, "p1").has_value());
  CHECK(bench.drop_push(head.key, "p1").has_value());
  CHECK(bench.configs(head).empty());
  CHECK(bench.configs(other).size() == 1);
  CHECK(bench.drop_push({99}, "p1").error().code == ErrorCode::task_not_found);
}

STORE_TEST_CASE("DeliveryStore: the result of a delivery to a deleted config affects no other config") {
  const task::TaskHead head = with_push(bench, "t1");
  bench.reopen();  // the first keys of a run are not reused either
  const store::Delivery under_way = due(bench).at(0);
  succeed(bench.drop_push(head.key, "p1"));
  succeed(bench.set_push(head.key, config("p1"), 10));
  bench.must(head, {status(State::working)});
  const store::Delivery next = due(bench).at(0);
  CHECK(next.key != under_way.key);
  CHECK(next.config_key != under_way.config_key);
  for (const auto kind :
       {DeliveryResult::Kind::retry, DeliveryResult::Kind::given_up, DeliveryResult::Kind::delivered}) {
    CHECK(bench.record(outcome(under_way, kind)).has_value());
  }
  REQUIRE(due(bench).size() == 1);
  CHECK(due(bench)[0].event.value == 3);
  CHECK(due(bench)[0].attempts == 0);
  CHECK(bench.deliveries->delivery_counts()->given_up == 0);
}

STORE_TEST_CASE("DeliveryStore: the last error of a config is that of the last attempt") {
  const task::TaskHead head = with_push(bench, "t1");
  const auto last_error = [&] { return bench.configs(head).at(0).last_error; };
  CHECK(last_error() == "");
  bench.must(head, {status(State::working)});
  CHECK(last_error() == "");
  succeed(bench.record(outcome(due(bench).at(0), DeliveryResult::Kind::retry, bench.clock.now())));
  CHECK(last_error() == "refused");
  succeed(bench.record(outcome(due(bench).at(0), DeliveryResult::Kind::delivered)));
  CHECK(last_error() == "");
  succeed(bench.record(outcome(due(bench).at(0), DeliveryResult::Kind::given_up)));
  bench.reopen();
  CHECK(last_error() == "refused");
}

STORE_TEST_CASE("DeliveryStore: if more deliveries are due than requested, callers share the places") {
  const auto add = [&](const std::string& caller, const std::string& id) {
    task::Change change = StoreBench::creation(id, {status(State::submitted)});
    change.create->caller = {caller};
    change.push = config(id);
    change.push_configs_max = 1;
    bench.must(std::move(change));
    bench.clock.advance(Duration(1));
  };
  for (const char* id : {"m1", "m2", "m3"}) add("mallory", id);
  add("one tenant\x1fmallory", "m4");
  for (const char* id : {"a1", "a2"}) add("alice", id);
  const auto ids = [&](int limit) {
    std::string found;
    for (const store::Delivery& delivery : due(bench, limit)) found += delivery.config.id.value + " ";
    return found;
  };
  CHECK(ids(6) == "m1 m2 m3 m4 a1 a2 ");
  CHECK(ids(4) == "m1 a1 m2 a2 ");
  CHECK(ids(5) == "m1 a1 m2 a2 m3 ");
}

}  // namespace delivery_store_test
