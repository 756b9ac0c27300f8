// A task that is alone in a context made for it is found, listed and read like any other, before and after
// more tasks join the context.
#include <string>

#include "base/id.h"
#include "contract/store_bench.h"
#include "store/own_context.h"

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
  return texts(bench.context(head.context_key).said);
}

std::vector<std::string> listed(const StoreBench& bench, const task::TaskHead& head) {
  task::ListFilter filter;
  filter.caller = head.caller;
  filter.agent = head.agent;
  filter.context = head.context;
  const auto page = bench.tasks->list(filter);
  REQUIRE(page.has_value());
  std::vector<std::string> ids;
  for (const task::TaskHead& one : page->heads) ids.push_back(one.id.value);
  CHECK(page->total == static_cast<std::int64_t>(ids.size()));
  return ids;
}

}  // namespace

STORE_TEST_CASE("TaskStore: a task alone in its context reports its context, also after a restart") {
  const task::TaskHead head = bench.must(fresh("hello")).head;
  bench.must(head, {delta("r", "good day"), call("c1"), status(State::completed)});
  for (int pass = 0; pass < 2; ++pass) {
    const task::TaskHead found = bench.head(head.key);
    CHECK(found.context == store::own_context(head.id));
    CHECK(found.context_key == head.context_key);
    CHECK(said_in(bench, head) == Texts{"hello", "good day"});
    CHECK(bench.context(head.context_key).call_ids == Texts{"c1"});
    CHECK(listed(bench, head) == Texts{head.id.value});
    bench.reopen();
  }
}

STORE_TEST_CASE("TaskStore: another caller that names a task's own context gets a separate context") {
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

NEW_STORE_TEST_CASE("TaskStore: a second task joins the context of the first, with its conversation") {
  for (const bool after_restart : {false, true}) {
    CAPTURE(after_restart);
    const auto made = new_bench();
    StoreBench& bench = *made;
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
      CHECK(bench.context(first.context_key).call_ids == Texts{"c1", "c2"});
      CHECK(listed(bench, first).size() == 3);
      CHECK(bench.head(first.key).context_key == first.context_key);
      bench.reopen();
    }
  }
}

STORE_TEST_CASE("TaskStore: a task alone in its context keeps its conversation when its log grows long") {
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

TEST_CASE("own_context: only a context id made from a UUID leads back to its task") {
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
