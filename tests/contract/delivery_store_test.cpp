// What every DeliveryStore promises, and the push configs behind it.
#include "contract/store_bench.h"

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
  made.generation = task::Generation::v0_2;
  return made;
}

std::vector<store::Delivery> due(StoreBench& bench, int limit = 100) {
  auto found = bench.store->due_deliveries(bench.clock.now(), limit);
  REQUIRE(found.has_value());
  return std::move(*found);
}

DeliveryResult outcome(const store::Delivery& delivery, DeliveryResult::Kind kind,
                       base::Timestamp next = {}) {
  return {delivery.key, kind, next, kind == DeliveryResult::Kind::delivered ? "" : "refused"};
}

store::TaskHead with_push(StoreBench& bench, const std::string& id, const std::string& config_id = "p1") {
  store::Change change = StoreBench::creation(id, {status(State::submitted), user("m")});
  change.push = config(config_id);
  store::Committed made = bench.must(std::move(change));
  CHECK(made.deliveries == 1);
  return made.head;
}

}  // namespace

TEST_CASE("TaskStore: push configs come back whole, in the order they were made") {
  StoreBench bench;
  const store::TaskHead head = bench.create("t1");
  CHECK(bench.set_push(head.key, config("p2"), 2).has_value());
  CHECK(bench.set_push(head.key, config("p1"), 2).has_value());
  bench.reopen();
  const auto configs = bench.store->push_configs(head.key);
  REQUIRE(configs.has_value());
  REQUIRE(configs->size() == 2);
  const task::PushConfig& first = (*configs)[0];
  CHECK(first.id.value == "p2");
  CHECK(first.url == "http://example.org/hook");
  CHECK(first.token == "token");
  CHECK(first.schemes == Texts{"Bearer", "Basic \"x\""});
  CHECK(first.credentials == "secret");
  CHECK(first.authentication_extra.text == R"({"schemes": [] })");
  CHECK(first.generation == task::Generation::v0_2);
  CHECK((*configs)[1].id.value == "p1");
}

TEST_CASE("TaskStore: one config too many is refused, replacing one is not") {
  StoreBench bench;
  const store::TaskHead head = bench.create("t1");
  CHECK(bench.set_push(head.key, config("p1"), 1).has_value());
  CHECK(bench.set_push(head.key, config("p2"), 1).error().code == ErrorCode::too_large);
  CHECK(bench.set_push(head.key, config("p1", "http://example.org/new"), 1)->url == "http://example.org/new");
  CHECK(bench.store->push_configs(head.key)->size() == 1);
  CHECK(bench.store->push_configs(head.key)->at(0).url == "http://example.org/new");
  CHECK(bench.set_push({99}, config("p1"), 1).error().code == ErrorCode::task_not_found);
}

TEST_CASE("DeliveryStore: each status of a task gives one delivery for each config, and only statuses do") {
  StoreBench bench;
  const store::TaskHead head = with_push(bench, "t1");
  succeed(bench.set_push(head.key, config("p2"), 10));
  CHECK(bench.must(head, {delta("r", "x"), user("m2")}).deliveries == 0);
  CHECK(bench.must(head, {status(State::working), status(State::completed)}).deliveries == 4);
  CHECK(bench.store->delivery_counts()->waiting == 5);
  const store::TaskHead silent = bench.create("t2");
  CHECK(bench.must(silent, {status(State::working)}).deliveries == 0);
}

TEST_CASE("DeliveryStore: a delivery tells what it is about") {
  StoreBench bench;
  const store::TaskHead head = with_push(bench, "t1");
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

TEST_CASE("DeliveryStore: only the first of each config is due, and the next when it is done") {
  StoreBench bench;
  const store::TaskHead head = with_push(bench, "t1");
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
  CHECK(bench.store->delivery_counts()->waiting == 1);
}

TEST_CASE("DeliveryStore: a retry waits for its time and holds back what follows, but no other config") {
  StoreBench bench;
  const store::TaskHead head = with_push(bench, "t1");
  bench.must(head, {status(State::working)});
  succeed(bench.set_push(head.key, config("p2"), 10));
  const store::Delivery first = due(bench).at(0);
  const base::Timestamp later = bench.clock.now() + Duration(1000);
  CHECK(bench.record(outcome(first, DeliveryResult::Kind::retry, later)).has_value());
  CHECK(due(bench).empty());
  CHECK(bench.store->next_due().value() == later);
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

TEST_CASE("DeliveryStore: what is given up is counted and lets the next go") {
  StoreBench bench;
  const store::TaskHead head = with_push(bench, "t1");
  bench.must(head, {status(State::working)});
  const store::Delivery first = due(bench).at(0);
  CHECK(bench.record(outcome(first, DeliveryResult::Kind::given_up)).has_value());
  CHECK(bench.store->delivery_counts()->given_up == 1);
  CHECK(bench.store->delivery_counts()->waiting == 1);
  CHECK(due(bench).at(0).event.value == 3);
  CHECK(bench.record(outcome(first, DeliveryResult::Kind::delivered)).error().code == ErrorCode::not_found);
}

TEST_CASE("DeliveryStore: the next due time follows the deliveries") {
  StoreBench bench;
  CHECK_FALSE(bench.store->next_due()->has_value());
  with_push(bench, "t1");
  const base::Timestamp first = bench.clock.now();
  bench.clock.advance(Duration(7));
  with_push(bench, "t2");
  CHECK(bench.store->next_due().value() == first);
  for (const store::Delivery& delivery : due(bench)) {
    succeed(bench.record(outcome(delivery, DeliveryResult::Kind::delivered)));
  }
  CHECK_FALSE(bench.store->next_due()->has_value());
}

TEST_CASE(
    "DeliveryStore: deliveries wait through a restart, in order, for the address their config has then") {
  StoreBench bench;
  const store::TaskHead head = with_push(bench, "t1");
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
