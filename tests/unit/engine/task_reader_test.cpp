#include "engine/read/task_reader.h"

#include "unit/engine/inbox_bench.h"

namespace task_reader_test {

using namespace baton;
using namespace baton::test;
using engine::Stop;
using task::State;

TEST_CASE("TaskReader: a new stop is not reported before the store has answered about earlier ones") {
  InboxBench bench;
  const task::TaskKey key = bench.make_tasks(1)[0];
  engine::Inbox& inbox = bench.start();
  engine::Background background;
  const engine::TaskReader reader(bench.store, bench.store, bench.live, inbox, background);
  const auto change_to = [&](State state) {
    engine::Decision decision;
    decision.task = key;
    decision.decide = [state](const store::TaskRow& now) {
      return base::Result<task::Change>(StoreBench::change(now.head, {status(state)}));
    };
    decision.done = [](const auto& written) { succeed(written); };
    inbox.post(std::move(decision));
    inbox.settle();
  };
  change_to(State::input_required);  // event 2
  change_to(State::working);

  Gate threads[2];
  for (Gate& gate : threads) {
    background.run([&gate] { gate.enter(); });
    REQUIRE(gate.wait_until_entered());
  }
  std::promise<std::optional<Stop>> told;
  reader.await_stop(key, {1}, patience(), [&](std::optional<Stop> stop) { told.set_value(stop); });
  change_to(State::completed);  // event 4, while the look-up in the store is still running
  for (Gate& gate : threads) gate.open();
  const auto stop = told.get_future().get();
  REQUIRE(stop);
  CHECK(stop->state == State::input_required);
  CHECK(stop->number.value == 2);
  background.stop();
}

TEST_CASE("TaskReader: a wait ends without a stop at its deadline, even if another wait ends later") {
  InboxBench bench;
  const task::TaskKey key = bench.make_tasks(1)[0];
  engine::Background background;
  const engine::TaskReader reader(bench.store, bench.store, bench.live, bench.start(), background);
  bool has_ended_early = false;
  reader.await_stop(key, {1}, patience(), [&](const auto& stop) { has_ended_early = !stop; });
  std::promise<std::optional<Stop>> told;
  reader.await_stop(key, {1}, std::chrono::milliseconds(1),
                    [&](std::optional<Stop> stop) { told.set_value(stop); });
  CHECK_FALSE(told.get_future().get().has_value());
  CHECK_FALSE(has_ended_early);
  background.stop();
}

}  // namespace task_reader_test
