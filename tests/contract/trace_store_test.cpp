// Stores keep the traces of messages.
#include "contract/store_bench.h"

namespace trace_store_test {

using namespace baton;
using namespace baton::test;
using task::State;

namespace {

task::Change asked(task::Change change, const std::string& trace) {
  change.request.emplace().trace = trace;
  return change;
}

task::Change with_push(task::Change change) {
  change.push.emplace().id = {"p1"};
  change.push->url = "http://example.org/hook";
  change.push->version = task::ProtocolVersion::v0_2;
  change.push_configs_max = 1;
  return change;
}

}  // namespace

STORE_TEST_CASE("TaskStore: each turn gets the trace of its own message, and of no other") {
  const task::TaskHead head =
      bench.must(asked(StoreBench::creation("t1", {status(State::submitted), user("m1")}), "00-a")).head;
  bench.must(head, {status(State::working), status(State::input_required)});
  bench.must(StoreBench::change(head, {status(State::submitted), user("m2")}));
  bench.must(head, {status(State::working), status(State::input_required)});
  bench.must(asked(StoreBench::change(head, {status(State::submitted), user("m3")}), "00-c"));
  const task::TaskHead other =
      bench.must(asked(StoreBench::creation("t2", {user("m1"), status(State::submitted)}), "00-d")).head;
  bench.reopen();
  const auto trace = [&](const task::TaskHead& of, std::int64_t message) {
    return bench.tasks->turn_input(of.key, {message}).value().request.trace;
  };
  CHECK(trace(head, 2) == "00-a");
  CHECK(trace(head, 6) == "");
  CHECK(trace(head, 10) == "00-c");
  CHECK(trace(other, 1) == "00-d");
}

STORE_TEST_CASE("TaskStore: an applied change still has its request, for callers that cache it") {
  task::Change change = asked(StoreBench::creation("t1", {status(State::submitted), user("m1")}), "00-a");
  succeed(bench.apply(change));
  CHECK(change.request->trace == "00-a");
  succeed(bench.tasks->commit());
}

STORE_TEST_CASE("DeliveryStore: a delivery has the trace of the last earlier message that had one") {
  const task::TaskHead head =
      bench.must(with_push(asked(StoreBench::creation("t1", {status(State::submitted), user("m1")}), "00-a")))
          .head;
  bench.must(head, {status(State::working), status(State::input_required)});
  bench.must(asked(StoreBench::change(head, {status(State::submitted), user("m2")}), "00-b"));
  bench.must(head, {status(State::working), status(State::input_required)});
  // A message with other request data, and one without any.
  task::Change other = StoreBench::change(head, {status(State::submitted), user("m3")});
  other.request.emplace().metadata = {"{}"};
  bench.must(std::move(other));
  bench.must(head, {status(State::working), user("m4"), status(State::completed)});
  bench.must(with_push(StoreBench::creation("t2", {status(State::submitted), user("m")})));
  bench.reopen();

  // Alternates between all due deliveries and a limit.
  int limit = 100;
  std::vector<std::pair<std::int64_t, std::string>> traces;
  for (bool found = true; found;) {
    found = false;
    limit = 101 - limit;
    const auto due = bench.deliveries->due_deliveries(bench.clock.now(), limit);
    for (const store::Delivery& delivery : due.value()) {
      found = true;
      traces.emplace_back(delivery.task == head.key ? delivery.event.value : 0, delivery.trace);
      succeed(bench.record({delivery.key, store::DeliveryResult::Kind::delivered, {}, {}}));
    }
  }
  std::ranges::sort(traces);
  const std::vector<std::pair<std::int64_t, std::string>> expected{
      {0, ""},     {1, "00-a"}, {3, "00-a"}, {4, "00-a"},  {5, "00-b"},
      {7, "00-b"}, {8, "00-b"}, {9, "00-b"}, {11, "00-b"}, {13, "00-b"}};
  CHECK(traces == expected);
}

}  // namespace trace_store_test
