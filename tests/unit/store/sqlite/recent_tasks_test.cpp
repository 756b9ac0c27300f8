#include "store/sqlite/recent_tasks.h"

#include <doctest/doctest.h>

namespace sqlite_recent_tasks_test {

using namespace baton;
using store::Committed;
using store::sqlite::RecentTasks;
using task::EventNumber;
using task::TaskKey;

namespace {

constexpr std::size_t kRoom = 1 << 20;

// A change of a task as the store would have committed it: so many text pieces after the events before.
Committed change(std::int64_t key, std::int64_t before, std::size_t events, std::size_t size = 10) {
  Committed made;
  made.head.key = {key};
  made.head.id = {"t" + std::to_string(key)};
  made.head.agent = {"echo"};
  made.head.caller = {"ann"};
  made.head.context_key = {key};
  made.new_context = before == 0;
  for (std::size_t i = 0; i < events; ++i) {
    const task::TextDelta text{{"r"}, 0, std::string(size, 'x'), before == 0 && i == 0, false};
    made.events.push_back(std::make_shared<const task::Event>(task::Event{{++before}, {}, text}));
  }
  made.head.last_event = {before};
  return made;
}

void create(RecentTasks& recent, const Committed& made) {
  recent.changing(made.head.key);
  recent.created(made, {}, {});
}

std::int64_t last_of(const RecentTasks& recent, std::int64_t key) {
  const auto head = recent.head(TaskKey{key});
  return head ? head->last_event.value : -1;
}

}  // namespace

TEST_CASE("RecentTasks: a new task is known by key and by name, with all its events") {
  RecentTasks recent(kRoom);
  create(recent, change(1, 0, 2));
  CHECK(last_of(recent, 1) == 2);
  CHECK(recent.head(task::TaskRef{{"ann"}, {"echo"}, {"t1"}}));
  CHECK_FALSE(recent.head(task::TaskRef{{"bob"}, {"echo"}, {"t1"}}));
  CHECK(recent.events(TaskKey{1}, {1}, 10)->size() == 1);
  CHECK(recent.read(TaskKey{1}, {0, true}, EventNumber{1})->artifacts.at(0).parts.at(0).content.size() == 10);
  CHECK_FALSE(recent.head(TaskKey{2}));
}

TEST_CASE("RecentTasks: a change that began before its task was known here is waited for too") {
  RecentTasks recent(kRoom);
  recent.changing({1});
  recent.changing({1});
  CHECK(recent.is_changing({1}));
  recent.created(change(1, 0, 2), {}, {});
  CHECK(recent.is_changing({1}));
  CHECK_FALSE(recent.head(TaskKey{1}));
  recent.advanced(change(1, 2, 1), {});
  CHECK_FALSE(recent.is_changing({1}));
  CHECK(last_of(recent, 1) == 3);
}

TEST_CASE(
    "RecentTasks: of a task that is being changed only the disk is asked how it is, until the last change is "
    "over") {
  RecentTasks recent(kRoom);
  create(recent, change(1, 0, 2));
  recent.changing({1});
  recent.changing({1});
  CHECK_FALSE(recent.head(TaskKey{1}));
  CHECK_FALSE(recent.head(task::TaskRef{{"ann"}, {"echo"}, {"t1"}}));
  CHECK_FALSE(recent.events(TaskKey{1}, {0}, 10));
  CHECK_FALSE(recent.read(TaskKey{1}, {}, {}));
  CHECK_FALSE(recent.call_ids({1}));
  recent.advanced(change(1, 2, 1), {});
  CHECK_FALSE(recent.head(TaskKey{1}));
  recent.unchanged({1});
  CHECK(last_of(recent, 1) == 3);
}

TEST_CASE("RecentTasks: while a task changes its past is told from memory, its present is not") {
  RecentTasks recent(kRoom);
  create(recent, change(1, 0, 2));
  recent.changing({1});
  CHECK_FALSE(recent.head(TaskKey{1}).has_value());
  CHECK_FALSE(recent.read(TaskKey{1}, {}, std::nullopt).has_value());
  CHECK(recent.read(TaskKey{1}, {}, EventNumber{2}).has_value());
  CHECK_FALSE(recent.read(TaskKey{1}, {}, EventNumber{3}).has_value());
  // There may be more by now.
  CHECK_FALSE(recent.events(TaskKey{1}, {1}, 10).has_value());
  recent.advanced(change(1, 2, 1), {});
  CHECK(last_of(recent, 1) == 3);
  CHECK(recent.read(TaskKey{1}, {}, EventNumber{3}).has_value());
  CHECK(recent.events(TaskKey{1}, {2}, 10)->size() == 1);
  CHECK(recent.events(TaskKey{1}, {3}, 10)->empty());
}

TEST_CASE("RecentTasks: a task that has grown goes, and does not come back") {
  RecentTasks recent(kRoom);
  create(recent, change(1, 0, 2));
  recent.changing({1});
  recent.advanced(change(1, 2, 1, kRoom / 2), {});
  CHECK_FALSE(recent.head(TaskKey{1}));
  recent.changing({1});
  recent.advanced(change(1, 3, 1), {});
  CHECK_FALSE(recent.head(TaskKey{1}));
}

TEST_CASE("RecentTasks: the oldest tasks make room for new ones") {
  RecentTasks recent(64 << 10);
  for (std::int64_t key = 1; key <= 100; ++key) create(recent, change(key, 0, 2));
  CHECK_FALSE(recent.head(TaskKey{1}));
  CHECK_FALSE(recent.head(task::TaskRef{{"ann"}, {"echo"}, {"t1"}}));
  CHECK(last_of(recent, 100) == 2);
}

TEST_CASE("RecentTasks: a context's conversation is known only while one task is alone in it") {
  RecentTasks recent(kRoom);
  create(recent, change(1, 0, 0));
  REQUIRE(recent.conversation({1}, {1}, {1}));
  CHECK(recent.conversation({1}, {1}, {1})->empty());
  CHECK(recent.call_ids({1}));
  Committed second = change(2, 0, 0);
  second.head.context_key = {1};
  second.new_context = false;
  create(recent, second);
  CHECK_FALSE(recent.conversation({1}, {1}, {1}));
  CHECK_FALSE(recent.call_ids({1}));
}

}  // namespace sqlite_recent_tasks_test
