// Live tasks: subscribing, publishing to many readers, and reading the published events.
#include <benchmark/benchmark.h>

#include <vector>

#include "engine/live/live_tasks.h"
#include "micro/things.h"

namespace baton::bench {
namespace {

using engine::LiveTasks;

constexpr task::TaskKey kTask{1};

// Adds events to a task with a long log, like the inbox once they are durable.
class OldLog {
 public:
  explicit OldLog(LiveTasks& live) : live_(live) {
    committed_.head.key = kTask;
    committed_.head.id = {kId};
    committed_.head.state = task::State::working;
  }

  void publish(int events) {
    committed_.events.clear();
    for (int i = 0; i < events; ++i) {
      const task::EventNumber number{++committed_.head.last_event.value};
      committed_.events.push_back(std::make_shared<const task::Event>(
          task::Event{number, base::from_ms(1'700'000'000'000), chunk_of(number.value > 1, false)}));
    }
    live_.changing(kTask);
    live_.publish(committed_, {}, nullptr);
  }

 private:
  LiveTasks& live_;
  store::Committed committed_;
};

// Subscribes and drops the subscription, beside a number of others that stay.
void subscribe(benchmark::State& state) {
  LiveTasks live;
  std::vector<LiveTasks::Subscription> others;
  for (std::int64_t i = 0; i < state.range(0); ++i) others.push_back(live.subscribe(kTask, [] {}));
  for (auto _ : state) benchmark::DoNotOptimize(live.subscribe(kTask, [] {}));
}

void publish_to_readers(benchmark::State& state) {
  LiveTasks live;
  OldLog log(live);
  std::int64_t told = 0, published = 0;
  std::vector<LiveTasks::Subscription> readers;
  for (std::int64_t i = 0; i < state.range(0); ++i) readers.push_back(live.subscribe(kTask, [&] { ++told; }));
  for (auto _ : state) {
    log.publish(1);
    ++published;
  }
  if (told != published * state.range(0)) state.SkipWithError("somebody was not told");
  state.SetItemsProcessed(told);
}

// The work of a stream that is up to date for each event.
void read_next_event(benchmark::State& state) {
  LiveTasks live;
  const auto subscription = live.subscribe(kTask, [] {});
  OldLog(live).publish(100);
  for (auto _ : state) {
    const engine::LiveLogPtr log = live.log(kTask);
    if (!log || !log->covers({99})) {
      state.SkipWithError("the event is not there");
      break;
    }
    benchmark::DoNotOptimize(log->after({99}, 64));
  }
}

BENCHMARK(subscribe)->Arg(0)->Arg(1000);
BENCHMARK(publish_to_readers)->Arg(1)->Arg(100)->Arg(10'000);
BENCHMARK(read_next_event);

}  // namespace
}  // namespace baton::bench
