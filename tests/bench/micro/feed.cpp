// The feed: subscribing, publishing to many readers, reading what was published.
#include <benchmark/benchmark.h>

#include <vector>

#include "engine/feed.h"
#include "micro/things.h"

namespace baton::bench {
namespace {

constexpr task::TaskKey kTask{1};

task::TaskHead head_at(std::int64_t number) {
  task::TaskHead head;
  head.key = kTask;
  head.id = {kId};
  head.state = task::State::working;
  head.last_event = {number};
  return head;
}

task::EventPtr event_at(std::int64_t number) {
  return std::make_shared<const task::Event>(
      task::Event{{number}, base::from_ms(1'700'000'000'000), chunk_of(number > 1, false)});
}

// And drop it again, where so many others stay.
void subscribe(benchmark::State& state) {
  engine::Feed feed;
  std::vector<engine::Feed::Subscription> others;
  for (std::int64_t i = 0; i < state.range(0); ++i) others.push_back(feed.subscribe(kTask, [] {}));
  for (auto _ : state) benchmark::DoNotOptimize(feed.subscribe(kTask, [] {}));
}

void publish_to_readers(benchmark::State& state) {
  engine::Feed feed;
  std::int64_t told = 0, number = 0;
  std::vector<engine::Feed::Subscription> readers;
  for (std::int64_t i = 0; i < state.range(0); ++i) readers.push_back(feed.subscribe(kTask, [&] { ++told; }));
  for (auto _ : state) {
    ++number;
    feed.publish(head_at(number), {event_at(number)});
  }
  if (told != number * state.range(0)) state.SkipWithError("somebody was not told");
  state.SetItemsProcessed(told);
}

// What a stream that is up to date does for each event.
void read_next_event(benchmark::State& state) {
  engine::Feed feed;
  const auto subscription = feed.subscribe(kTask, [] {});
  std::vector<task::EventPtr> events;
  for (std::int64_t number = 1; number <= 100; ++number) events.push_back(event_at(number));
  feed.publish(head_at(100), events);
  for (auto _ : state) {
    auto tail = feed.after(kTask, {99}, 64);
    if (!tail.known || tail.events.size() != 1) state.SkipWithError("the tail is not there");
    benchmark::DoNotOptimize(tail);
  }
}

BENCHMARK(subscribe)->Arg(0)->Arg(1000);
BENCHMARK(publish_to_readers)->Arg(1)->Arg(100)->Arg(10'000);
BENCHMARK(read_next_event);

}  // namespace
}  // namespace baton::bench
