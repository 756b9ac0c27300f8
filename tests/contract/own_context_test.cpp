// A task that is alone in a context made for it is found, listed and told of as any other, before and after
// the context has more to it.
#include <string>

#include "base/id.h"
#include "contract/store_bench.h"
#include "store/own_context.h"
#include "store/sqlite/connection.h"

namespace own_context_test {

using namespace baton;
using namespace baton::test;
using task::State;

namespace {

task::Change fresh(const std::string& text) {
  task::Change made = StoreBench::creation(base::make_uuid(), {status(State::submitted), user("m", text)});
  made.create->fresh_id = made.create->fresh_context = true;
  made.create->context = store::own_context(made.create->id);
  return made;
}

task::Change joining(const task::TaskHead& first, const std::string& id, const std::string& text) {
  return StoreBench::creation(id, {status(State::submitted), user("m", text)}, first.context.value);
}

task::ToolCall call(const std::string& id) {
  task::ToolCall made;
  made.id = id;
  made.name = "n";
  return made;
}

Texts said_in(const StoreBench& bench, const task::TaskHead& head) {
  // All of it: a task that is not there leaves nothing out.
  auto said = bench.store->conversation(head.context_key, {}, {}, 100);
  REQUIRE(said.has_value());
  return texts(*said);
}

std::vector<std::string> listed(const StoreBench& bench, const task::TaskHead& head) {
  task::ListFilter filter;
  filter.caller = head.caller;
  filter.agent = head.agent;
  filter.context = head.context;
  const auto page = bench.store->list(filter);
  REQUIRE(page.has_value());
  std::vector<std::string> ids;
  for (const task::TaskHead& one : page->heads) ids.push_back(one.id.value);
  CHECK(page->total == static_cast<std::int64_t>(ids.size()));
  return ids;
}

}  // namespace

TEST_CASE("TaskStore: a task alone in its context tells of it, also after a restart") {
  StoreBench bench;
  const task::TaskHead head = bench.must(fresh("hello")).head;
  bench.must(head, {delta("r", "good day"), call("c1"), status(State::completed)});
  for (int pass = 0; pass < 2; ++pass) {
    const auto found = bench.store->head(head.key);
    REQUIRE(found.has_value());
    CHECK(found->context == store::own_context(head.id));
    CHECK(found->context_key == head.context_key);
    CHECK(said_in(bench, head) == Texts{"hello", "good day"});
    CHECK(bench.store->call_ids(head.context_key).value() == Texts{"c1"});
    CHECK(listed(bench, head) == Texts{head.id.value});
    bench.reopen();
  }
}

TEST_CASE("TaskStore: the own context of a task is no other caller's or agent's") {
  StoreBench bench;
  const task::TaskHead head = bench.must(fresh("hello")).head;
  task::TaskHead other = head;
  other.caller = {"bob"};
  CHECK(listed(bench, other).empty());
  task::Change theirs = joining(head, "t2", "hi");
  theirs.create->caller = {"bob"};
  const task::TaskHead second = bench.must(std::move(theirs)).head;
  CHECK(second.context_key != head.context_key);
  CHECK(said_in(bench, second) == Texts{"hi"});
  CHECK(said_in(bench, head) == Texts{"hello"});
}

TEST_CASE("TaskStore: a second task comes into the context of the first, with all that was said there") {
  for (const bool after_restart : {false, true}) {
    CAPTURE(after_restart);
    StoreBench bench;
    const task::TaskHead first = bench.must(fresh("one")).head;
    bench.must(first, {delta("r", "reply"), call("c1")});
    if (after_restart) bench.reopen();
    bench.clock.advance(std::chrono::seconds(1));
    const task::TaskHead second = bench.must(joining(first, "t2", "two")).head;
    CHECK(second.context_key == first.context_key);
    CHECK(second.context == first.context);
    bench.clock.advance(std::chrono::seconds(1));
    bench.must(first, {user("m", "three"), call("c2")});
    const task::TaskHead third = bench.must(joining(first, "t3", "four")).head;
    CHECK(third.context_key == first.context_key);
    for (int pass = 0; pass < 2; ++pass) {
      CHECK(said_in(bench, first) == Texts{"one", "reply", "two", "three", "four"});
      CHECK(bench.store->call_ids(first.context_key).value() == Texts{"c1", "c2"});
      CHECK(listed(bench, first).size() == 3);
      CHECK(bench.store->head(first.key)->context_key == first.context_key);
      bench.reopen();
    }
  }
}

TEST_CASE("TaskStore: a task that is alone and grows long keeps its conversation") {
  StoreBench bench;
  const task::TaskHead head = bench.must(fresh("0")).head;
  Texts expected{"0"};
  for (int i = 1; i <= 60; ++i) {
    bench.must(head, {user("m", std::to_string(i))});
    expected.push_back(std::to_string(i));
  }
  for (int pass = 0; pass < 2; ++pass) {
    CHECK(said_in(bench, head) == expected);
    CHECK(listed(bench, head) == Texts{head.id.value});
    bench.reopen();
  }
  const task::TaskHead second = bench.must(joining(head, "t2", "two")).head;
  CHECK(second.context_key == head.context_key);
}

TEST_CASE("TaskStore: a task alone in its context has no rows about it until another comes") {
  StoreBench bench;
  const task::TaskHead first = bench.must(fresh("one")).head;
  const auto rows = [&](const std::string& table) {
    store::sqlite::Connection connection(bench.path(), store::sqlite::Connection::Mode::read);
    return connection.database().execAndGet("SELECT count(*) FROM " + table).getInt();
  };
  CHECK(rows("contexts WHERE context_key <> 0") == 0);
  CHECK(rows("conversation") == 0);
  bench.must(joining(first, "t2", "two"));
  CHECK(rows("contexts WHERE context_key <> 0") == 1);
  CHECK(rows("conversation") == 2);
}

TEST_CASE("own_context: it leads back to its task, and no other id does") {
  const task::TaskId id{base::make_uuid()};
  const task::ContextId context = store::own_context(id);
  CHECK(context.value != id.value);
  CHECK(store::task_of_own_context(context) == id);
  CHECK(store::own_context({"my-task"}).empty());
  CHECK_FALSE(store::task_of_own_context({"my-context"}));
  CHECK_FALSE(store::task_of_own_context({id.value}));
  CHECK_FALSE(store::task_of_own_context({}));
}

}  // namespace own_context_test
