#include "engine/feed.h"

#include <doctest/doctest.h>

#include <thread>

namespace feed_test {

using namespace baton;
using engine::Feed;
using task::State;

namespace {

constexpr task::TaskKey kTask{7};

task::TaskHead head_in(State state, std::int64_t last) {
  task::TaskHead head;
  head.key = kTask;
  head.state = state;
  head.last_event = {last};
  return head;
}

task::EventPtr event(std::int64_t number, task::EventBody body) {
  return std::make_shared<const task::Event>(task::Event{{number}, {}, std::move(body)});
}

task::EventPtr status(std::int64_t number, State state) {
  return event(number, task::StatusChanged{{state, std::nullopt, {}}, {}});
}

task::EventPtr text(std::int64_t number, std::string piece = "x") {
  return event(number, task::TextDelta{{"r"}, 0, std::move(piece), false, false});
}

}  // namespace

TEST_CASE("Feed: a subscriber hears of every publication until it leaves") {
  Feed feed;
  int news = 0;
  {
    const auto subscription = feed.subscribe(kTask, [&] { ++news; });
    feed.publish(head_in(State::working, 1), {text(1)});
    feed.publish(head_in(State::working, 2), {text(2)});
    CHECK(news == 2);
    CHECK(feed.counts().subscriptions == 1);
  }
  feed.publish(head_in(State::working, 3), {text(3)});
  CHECK(news == 2);
  CHECK(feed.counts().subscriptions == 0);
}

TEST_CASE("Feed: the tail answers from any number it has and says where it has a gap") {
  Feed feed;
  const auto subscription = feed.subscribe(kTask, [] {});
  CHECK_FALSE(feed.after(kTask, {0}, 10).known);
  feed.publish(head_in(State::working, 7), {text(5), text(6), text(7)});
  CHECK_FALSE(feed.after(kTask, {3}, 10).known);
  REQUIRE(feed.after(kTask, {4}, 10).known);
  CHECK(feed.after(kTask, {4}, 10).events.size() == 3);
  CHECK(feed.after(kTask, {4}, 2).events.size() == 2);
  CHECK(feed.after(kTask, {6}, 10).events.front()->number.value == 7);
  CHECK(feed.after(kTask, {7}, 10).known);
  CHECK(feed.after(kTask, {7}, 10).events.empty());
}

TEST_CASE("Feed: of a task that is only waited for nothing is kept, of one that is read as well it is") {
  Feed feed;
  feed.publish(head_in(State::working, 1), {text(1)});
  CHECK(feed.after(kTask, {0}, 10).known);
  const auto wait = feed.on_stop(kTask, {0}, [](engine::Stop) {});
  CHECK_FALSE(feed.after(kTask, {0}, 10).known);
  feed.publish(head_in(State::working, 2), {text(2)});
  CHECK_FALSE(feed.after(kTask, {1}, 10).known);
  {
    const auto reader = feed.subscribe(kTask, [] {});
    feed.publish(head_in(State::working, 3), {text(3)});
    CHECK(feed.after(kTask, {2}, 10).events.size() == 1);
    CHECK_FALSE(feed.after(kTask, {1}, 10).known);
  }
  feed.publish(head_in(State::working, 4), {text(4)});
  const auto late = feed.subscribe(kTask, [] {});
  feed.publish(head_in(State::working, 5), {text(5)});
  CHECK(feed.after(kTask, {4}, 10).events.size() == 1);
  CHECK_FALSE(feed.after(kTask, {2}, 10).known);
}

TEST_CASE("Feed: its memory is bounded by number and by weight") {
  Feed feed;
  const auto subscription = feed.subscribe(kTask, [] {});
  for (int i = 1; i <= 1000; ++i) feed.publish(head_in(State::working, i), {text(i)});
  CHECK_FALSE(feed.after(kTask, {0}, 1000).known);
  CHECK(feed.after(kTask, {990}, 1000).events.size() == 10);
  feed.publish(head_in(State::working, 1001), {text(1001, std::string(1 << 20, 'y'))});
  CHECK_FALSE(feed.after(kTask, {1000}, 10).known);
  feed.publish(head_in(State::working, 1002), {text(1002)});
  CHECK(feed.after(kTask, {1001}, 10).events.size() == 1);
}

TEST_CASE("Feed: a stop is told once, and only one after the number asked for") {
  Feed feed;
  std::vector<std::int64_t> stops;
  const auto subscription =
      feed.on_stop(kTask, {3}, [&](engine::Stop stop) { stops.push_back(stop.number.value); });
  feed.publish(head_in(State::input_required, 3), {status(3, State::input_required)});
  feed.publish(head_in(State::working, 4), {status(4, State::working)});
  CHECK(stops.empty());
  feed.publish(head_in(State::completed, 6), {text(5), status(6, State::completed)});
  feed.publish(head_in(State::completed, 9), {status(9, State::completed)});
  CHECK(stops == std::vector<std::int64_t>{6});
}

TEST_CASE("Feed: a callback may end its own subscription") {
  Feed feed;
  Feed::Subscription subscription;
  bool stopped = false;
  subscription = feed.on_stop(kTask, {0}, [&](engine::Stop) {
    stopped = true;
    subscription = {};
  });
  feed.publish(head_in(State::failed, 1), {status(1, State::failed)});
  CHECK(stopped);
  CHECK(feed.counts().subscriptions == 0);
}

TEST_CASE("Feed: an ended task that nobody watches is forgotten") {
  Feed feed;
  feed.publish(head_in(State::working, 1), {status(1, State::working)});
  CHECK(feed.counts().tasks == 1);
  feed.publish(head_in(State::completed, 2), {status(2, State::completed)});
  CHECK(feed.counts().tasks == 0);
}

TEST_CASE("Feed: readers and publishers side by side see every number once and in order") {
  Feed feed;
  constexpr std::int64_t kLast = 2000;
  std::atomic<std::int64_t> seen{0};
  const auto subscription = feed.subscribe(kTask, [] {});
  std::jthread reader([&] {
    std::int64_t position = 0;
    while (position < kLast) {
      const auto tail = feed.after(kTask, {position}, 16);
      for (const auto& event : tail.events) {
        REQUIRE(event->number.value == position + 1);
        position = event->number.value;
      }
      seen = position;
    }
  });
  for (std::int64_t i = 1; i <= kLast; ++i) {
    feed.publish(head_in(State::working, i), {text(i)});
    // Within the memory's bound the reader never meets a gap.
    while (i - seen > 100) std::this_thread::yield();
  }
}

TEST_CASE("Feed: a task is followed while there is a reader or a wait, and not because it is active") {
  Feed feed;
  CHECK_FALSE(feed.is_followed(kTask));
  feed.publish(head_in(State::working, 1), {text(1)});
  CHECK_FALSE(feed.is_followed(kTask));
  {
    const auto wait = feed.on_stop(kTask, {1}, [](engine::Stop) {});
    CHECK(feed.is_followed(kTask));
    CHECK_FALSE(feed.is_followed({8}));
    const auto reader = feed.subscribe(kTask, [] {});
    CHECK(feed.is_followed(kTask));
  }
  CHECK_FALSE(feed.is_followed(kTask));
}

}  // namespace feed_test
