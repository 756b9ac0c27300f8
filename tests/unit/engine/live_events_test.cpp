#include "engine/live/live_events.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

namespace live_events_test {

using namespace baton;
using engine::LiveEvents;

namespace {

std::vector<task::EventPtr> events(std::int64_t first, std::int64_t count) {
  std::vector<task::EventPtr> made;
  for (std::int64_t i = first; i < first + count; ++i)
    made.push_back(std::make_shared<const task::Event>(task::Event{{i}, {}, task::TextDelta{}}));
  return made;
}

std::vector<std::int64_t> numbers(const LiveEvents& events) {
  std::vector<std::int64_t> all;
  for (const task::EventPtr& event : events) all.push_back(event->number.value);
  return all;
}

std::vector<std::int64_t> range(std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(last - first + 1));
  std::iota(all.begin(), all.end(), first);
  return all;
}

}  // namespace

TEST_CASE("LiveEvents: a value stays as it is while copies of it get more events, or lose their first ones") {
  LiveEvents one;
  CHECK(one.empty());
  std::vector<LiveEvents> values;
  for (std::int64_t i = 1; i <= 100; ++i) {
    one.add(events(i, 1));
    values.push_back(one);
  }
  for (std::int64_t i = 1; i <= 100; ++i)
    CHECK(numbers(values[static_cast<std::size_t>(i - 1)]) == range(1, i));
  LiveEvents tail = one;
  for (int i = 0; i < 70; ++i) tail.drop_front();
  CHECK(numbers(tail) == range(71, 100));
  CHECK(tail.front()->number.value == 71);
  CHECK(tail.back()->number.value == 100);
  CHECK(tail.hidden() == 6);
  tail.add(events(101, 60));
  CHECK(numbers(tail) == range(71, 160));
  CHECK(numbers(one) == range(1, 100));
  tail.compact();
  CHECK(tail.hidden() == 0);
  CHECK(numbers(tail) == range(71, 160));
  while (!tail.empty()) tail.drop_front();
  tail.add(events(7, 40));
  CHECK(numbers(tail) == range(7, 46));
}

TEST_CASE("LiveEvents: copies of one value that get different events do not see each other's") {
  LiveEvents one;
  one.add(events(1, 40));
  LiveEvents other = one;
  one.add(events(41, 3));
  other.add(events(141, 30));
  CHECK(numbers(one) == range(1, 43));
  CHECK(other.size() == 70);
  CHECK(other[40]->number.value == 141);
  CHECK(numbers(one) == range(1, 43));
}

TEST_CASE("LiveEvents: the events of a copy are those of the original") {
  LiveEvents one;
  one.add(events(1, 64));
  const LiveEvents copy = one;
  one.add(events(65, 1));
  CHECK(one.front() == copy.front());
  CHECK(one.front().use_count() == 1);
}

}  // namespace live_events_test
