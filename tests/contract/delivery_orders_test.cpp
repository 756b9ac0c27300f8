// Operators' orders about webhook deliveries: to resend or skip them, in the order of each config.
#include "contract/store_bench.h"

namespace delivery_orders_test {

using namespace baton;
using namespace baton::test;
using base::ErrorCode;
using store::DeliveryResult;
using task::State;
using Kind = task::DeliveryOrder::Kind;
using Numbers = std::vector<std::int64_t>;

namespace {

// Creates a task with one webhook, which gets each of these statuses: events 1, 3, 4, ...
task::TaskHead with_deliveries(StoreBench& bench, int more, const std::string& id = "t1") {
  task::Change change = StoreBench::creation(id, {status(State::submitted), user("m")});
  task::PushConfig& config = change.push.emplace();
  config.id = {"p1"};
  config.url = "http://example.org/hook";
  config.version = task::ProtocolVersion::v0_2;
  change.push_configs_max = 1;
  task::TaskHead head = bench.must(std::move(change)).head;
  for (int i = 0; i < more; ++i) head = bench.must(head, {status(State::working)}).head;
  return head;
}

std::vector<store::Delivery> due(const StoreBench& bench) {
  auto found = bench.deliveries->due_deliveries(bench.clock.now(), 10);
  succeed(found);
  return std::move(*found);
}

void settle(StoreBench& bench, DeliveryResult::Kind kind) {
  const auto first = due(bench);
  REQUIRE(first.size() == 1);
  succeed(bench.record({first[0].key, kind, {}, kind == DeliveryResult::Kind::delivered ? "" : "refused"}));
}

base::Result<store::Committed> order(StoreBench& bench, const task::TaskHead& head, Kind kind,
                                     std::int64_t delivery = 0) {
  task::Change change = StoreBench::change(head, {task::Intervention{"olga", "resend", "it is back"}});
  change.deliveries = task::DeliveryOrder{kind, delivery};
  return bench.commit(std::move(change));
}

// Delivers all due deliveries, and returns their events.
Numbers heard(StoreBench& bench) {
  Numbers events;
  for (auto next = due(bench); !next.empty(); next = due(bench)) {
    REQUIRE(next.size() == 1);
    events.push_back(next[0].event.value);
    succeed(bench.record({next[0].key, DeliveryResult::Kind::delivered, {}, ""}));
  }
  return events;
}

Texts states(const StoreBench& bench, const store::DeliveryFilter& filter) {
  const auto page = bench.operators->deliveries(filter, 0, 100);
  succeed(page);
  Texts found;
  for (const store::DeliveryLine& line : page->lines)
    found.push_back(std::to_string(line.event.value) + " " + line.state);
  return found;
}

}  // namespace

STORE_TEST_CASE("DeliveryOrder: a delivery that was given up is sent again before later ones") {
  const auto head = with_deliveries(bench, 3);
  settle(bench, DeliveryResult::Kind::given_up);   // of event 1
  settle(bench, DeliveryResult::Kind::delivered);  // of event 3
  const auto ordered = order(bench, head, Kind::resend);
  succeed(ordered);
  CHECK(ordered->deliveries > 0);
  CHECK(ordered->events.size() == 1);
  CHECK(bench.deliveries->delivery_counts()->given_up == 0);
  CHECK(bench.deliveries->delivery_counts()->waiting == 3);
  bench.reopen();
  CHECK(heard(bench) == Numbers{1, 4, 5});
}

NEW_STORE_TEST_CASE(
    "DeliveryOrder: a delivery resent after all others were delivered holds back later ones") {
  for (const bool restarts : {false, true}) {
    const auto made = new_bench();
    StoreBench& bench = *made;
    auto head = with_deliveries(bench, 1);
    settle(bench, DeliveryResult::Kind::given_up);
    settle(bench, DeliveryResult::Kind::delivered);
    head = order(bench, head, Kind::resend)->head;
    if (restarts) bench.reopen();
    head = bench.must(head, {status(State::working)}).head;
    REQUIRE(due(bench).size() == 1);
    CHECK(heard(bench) == Numbers{1, head.last_event.value});
    head = bench.must(head, {status(State::working)}).head;
    CHECK(heard(bench) == Numbers{head.last_event.value});
  }
}

STORE_TEST_CASE(
    "DeliveryOrder: resending a delivery that waits for a retry makes it due immediately, like a new one") {
  const auto head = with_deliveries(bench, 0);
  const auto first = due(bench);
  succeed(bench.record(
      {first[0].key, DeliveryResult::Kind::retry, bench.clock.now() + std::chrono::hours(9), "refused"}));
  bench.clock.advance(std::chrono::hours(1));
  CHECK(due(bench).empty());
  succeed(order(bench, head, Kind::resend, first[0].key.value));
  REQUIRE(due(bench).size() == 1);
  CHECK(due(bench)[0].attempts == 0);
  CHECK(due(bench)[0].created_at == bench.clock.now());
}

STORE_TEST_CASE("DeliveryOrder: a skipped delivery counts as given up, and the next one is due") {
  const auto head = with_deliveries(bench, 2);
  const auto first = due(bench);
  succeed(order(bench, head, Kind::skip, first[0].key.value));
  CHECK(bench.deliveries->delivery_counts()->given_up == 1);
  const auto page = bench.operators->deliveries({.state = store::DeliveryFilter::State::given_up}, 0, 10);
  REQUIRE(page->lines.size() == 1);
  CHECK(page->lines[0].error == "skipped by an operator");
  // The result of its attempt comes too late.
  const auto late = bench.record({first[0].key, DeliveryResult::Kind::delivered, {}, ""});
  CHECK(late.error().code == ErrorCode::not_found);
  CHECK(heard(bench) == Numbers{3, 4});
}

STORE_TEST_CASE("DeliveryOrder: a config's last error names a skip until the skipped delivery is resent") {
  auto head = with_deliveries(bench, 2);
  const auto last_error = [&] { return bench.configs(head).at(0).last_error; };
  settle(bench, DeliveryResult::Kind::given_up);
  settle(bench, DeliveryResult::Kind::retry);
  head = order(bench, head, Kind::skip)->head;
  CHECK(last_error() == "skipped by an operator");
  bench.reopen();
  CHECK(last_error() == "skipped by an operator");
  head = order(bench, head, Kind::resend)->head;
  CHECK(last_error() == "");
  settle(bench, DeliveryResult::Kind::given_up);
  CHECK(last_error() == "refused");
  settle(bench, DeliveryResult::Kind::delivered);
  CHECK(last_error() == "");
  head = order(bench, head, Kind::skip)->head;  // without an attempt
  CHECK(last_error() == "");
}

STORE_TEST_CASE("DeliveryOrder: a skip without a delivery's number skips all waiting ones") {
  auto head = with_deliveries(bench, 2);
  settle(bench, DeliveryResult::Kind::delivered);
  head = order(bench, head, Kind::skip)->head;
  CHECK(states(bench, {.task = head.key}) == Texts{"4 given-up", "3 given-up", "1 delivered"});
  CHECK(due(bench).empty());
  CHECK(order(bench, head, Kind::skip).error().code == ErrorCode::not_found);
  bench.reopen();
  head = bench.must(head, {status(State::working)}).head;
  CHECK(heard(bench) == Numbers{head.last_event.value});
}

STORE_TEST_CASE("DeliveryOrder: orders and results of one group see the earlier ones") {
  const auto head = with_deliveries(bench, 1);
  const store::DeliveryKey first = due(bench)[0].key;
  const auto record = [&](DeliveryResult::Kind kind) {
    return bench.deliveries->record(
        {first, kind, {}, kind == DeliveryResult::Kind::delivered ? "" : "refused"});
  };
  const auto apply = [&](Kind kind, std::int64_t delivery = 0) {
    task::Change change = StoreBench::change(head, {task::Intervention{"olga", "skip", "it is gone"}});
    change.deliveries = task::DeliveryOrder{kind, delivery};
    return bench.apply(change);
  };
  const auto refused = [](const auto& result) {
    return !result && result.error().code == ErrorCode::not_found;
  };
  SUBCASE("a result for a skipped delivery comes too late") {
    succeed(apply(Kind::skip));
    CHECK(refused(record(DeliveryResult::Kind::delivered)));
    CHECK(refused(apply(Kind::skip)));
    succeed(bench.tasks->commit());
    CHECK(states(bench, {.task = head.key}) == Texts{"3 given-up", "1 given-up"});
  }
  SUBCASE("the next delivery is skipped after one was delivered") {
    succeed(record(DeliveryResult::Kind::delivered));
    CHECK(refused(apply(Kind::skip, first.value)));
    succeed(apply(Kind::skip));
    CHECK(refused(apply(Kind::skip)));
    succeed(bench.tasks->commit());
    CHECK(states(bench, {.task = head.key}) == Texts{"3 given-up", "1 delivered"});
  }
  SUBCASE("a delivery that was given up is sent again") {
    succeed(record(DeliveryResult::Kind::given_up));
    succeed(apply(Kind::resend, first.value));
    succeed(record(DeliveryResult::Kind::delivered));
    succeed(bench.tasks->commit());
    CHECK(heard(bench) == Numbers{3});
  }
  SUBCASE("a delivery added by a change of the group is skipped") {
    succeed(apply(Kind::skip));
    task::Change more = StoreBench::change(head, {status(State::working)});
    succeed(bench.apply(more));
    succeed(apply(Kind::skip));
    succeed(bench.tasks->commit());
    CHECK(bench.deliveries->delivery_counts()->given_up == 3);
    CHECK(due(bench).empty());
  }
}

STORE_TEST_CASE("DeliveryOrder: skipping a delivery in the middle does not affect the first one") {
  const auto head = with_deliveries(bench, 2);
  const auto lines = bench.operators->deliveries({}, 0, 10);
  REQUIRE(lines->lines.size() == 3);
  succeed(order(bench, head, Kind::skip, lines->lines[1].key.value));
  CHECK(heard(bench) == Numbers{1, 4});
}

STORE_TEST_CASE("DeliveryOrder: an order that has no effect is refused and not stored") {
  const auto head = with_deliveries(bench, 0);
  CHECK(order(bench, head, Kind::skip, 77).error().code == ErrorCode::not_found);
  CHECK(heard(bench) == Numbers{1});
  CHECK(order(bench, head, Kind::skip).error().code == ErrorCode::not_found);
  CHECK(order(bench, head, Kind::resend).error().code == ErrorCode::not_found);
  CHECK(bench.head(head.key).last_event == head.last_event);
}

STORE_TEST_CASE("Deliveries: are listed by state, task, agent and caller, newest first, in pages") {
  using Which = store::DeliveryFilter::State;
  const auto first = with_deliveries(bench, 1);
  settle(bench, DeliveryResult::Kind::given_up);
  settle(bench, DeliveryResult::Kind::delivered);
  const auto second = with_deliveries(bench, 0, "t2");
  CHECK(states(bench, {}) == Texts{"1 waiting", "1 given-up"});
  CHECK(states(bench, {.state = Which::waiting}) == Texts{"1 waiting"});
  CHECK(states(bench, {.state = Which::given_up}) == Texts{"1 given-up"});
  CHECK(states(bench, {.task = first.key}) == Texts{"3 delivered", "1 given-up"});
  CHECK(states(bench, {.agent = {"echo"}, .caller = {"ann"}}).size() == 2);
  CHECK(states(bench, {.agent = {"plan"}}).empty());
  const auto page = bench.operators->deliveries({}, 0, 1);
  REQUIRE(page->lines.size() == 1);
  CHECK(page->lines[0].task == second.key);
  CHECK(page->lines[0].url == "http://example.org/hook");
  CHECK(page->lines[0].due.has_value());
  REQUIRE(page->next != 0);
  const auto rest = bench.operators->deliveries({}, page->next, 1);
  REQUIRE(rest->lines.size() == 1);
  CHECK(rest->lines[0].task == first.key);
  CHECK(rest->next == 0);
  CHECK(bench.operators->delivery(page->lines[0].key)->task == second.key);
  CHECK(bench.operators->delivery({77}).error().code == ErrorCode::not_found);
  CHECK(bench.operators->line(first.key)->undelivered == 1);
}

}  // namespace delivery_orders_test
