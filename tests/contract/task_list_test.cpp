// The contract of every TaskStore about lists: their tasks, their order and their pages.
#include <algorithm>
#include <array>
#include <random>
#include <tuple>

#include "contract/store_bench.h"

namespace contract_task_list_test {

using namespace baton;
using namespace baton::test;
using base::Duration;
using task::State;

namespace {

constexpr State kSubmitted = State::submitted;

task::ListFilter all(int limit = 50) {
  task::ListFilter filter;
  filter.caller = {"ann"};
  filter.agent = {"echo"};
  filter.limit = limit;
  return filter;
}

store::ListPage list(const StoreBench& bench, const task::ListFilter& filter) {
  auto page = bench.tasks->list(filter);
  succeed(page);
  return std::move(*page);
}

Texts ids(const store::ListPage& page) {
  return test::ids(page.heads);
}
Texts ids(const StoreBench& bench, const task::ListFilter& filter) {
  return ids(list(bench, filter));
}

task::ListPosition position(const task::TaskHead& head) {
  return {head.status_at, head.id};
}

// Reads all pages of a list with this limit.
Texts in_pages(const StoreBench& bench, task::ListFilter filter) {
  Texts found;
  for (;;) {
    const store::ListPage page = list(bench, filter);
    if (page.heads.empty()) return found;
    CHECK(page.heads.size() <= static_cast<std::size_t>(filter.limit));
    for (const std::string& id : ids(page)) found.push_back(id);
    filter.after = position(page.heads.back());
  }
}

}  // namespace

STORE_TEST_CASE("TaskStore: a list has the newest status first, and with equal times the last id first") {
  const task::TaskHead first = bench.create("first");
  bench.clock.advance(Duration(5));
  for (const char* id : {"b", "d", "a", "c"}) bench.create(id);
  CHECK(ids(bench, all()) == Texts{"d", "c", "b", "a", "first"});

  bench.clock.advance(Duration(5));
  bench.must(first, {status(State::working)});
  CHECK(ids(bench, all()) == Texts{"first", "d", "c", "b", "a"});
  const task::TaskHead shown = list(bench, all()).heads.at(0);
  CHECK(shown.status_at == bench.clock.now());
  CHECK(shown.state == State::working);
  CHECK(shown.context.value == "c1");
}

STORE_TEST_CASE("TaskStore: a task's status time is the one in the status, and output does not change it") {
  const base::Timestamp made = bench.clock.now();
  task::TaskHead head = bench.create("t1");
  CHECK(head.status_at == made);
  bench.clock.advance(Duration(100));
  head = bench.must(head, {delta("r", "x"), user("m2")}).head;
  CHECK(head.status_at == made);

  task::StatusChanged progress = status(State::working);
  progress.status.at = made + Duration(40);
  head = bench.must(head, {progress}).head;
  CHECK(head.status_at == made + Duration(40));
  task::Change turn = StoreBench::change(head, {});
  turn.turn.emplace();
  turn.turn->attempt = 2;
  bench.must(std::move(turn));
  bench.reopen();
  CHECK(bench.head(head.key).status_at == made + Duration(40));
  CHECK(bench.tasks->find({{"ann"}, {"echo"}, {"t1"}})->status_at == made + Duration(40));
  CHECK(bench.read(head).status.at == made + Duration(40));

  const task::TaskHead silent = bench.must(StoreBench::creation("t2", {user("m")})).head;
  CHECK(silent.status_at == bench.clock.now());
}

STORE_TEST_CASE("TaskStore: a list shows only the tasks of this caller at this agent") {
  bench.create("mine");
  task::Change other_caller = StoreBench::creation("theirs", {status(kSubmitted)});
  other_caller.create->caller = {"bob"};
  bench.must(std::move(other_caller));
  task::Change other_agent = StoreBench::creation("elsewhere", {status(kSubmitted)});
  other_agent.create->agent = {"maps"};
  bench.must(std::move(other_agent));
  CHECK(ids(bench, all()) == Texts{"mine"});
  CHECK(list(bench, all()).total == 1);
  task::ListFilter nobody = all();
  nobody.caller = {"eve"};
  CHECK(ids(bench, nobody).empty());
  CHECK(list(bench, nobody).total == 0);
}

STORE_TEST_CASE("TaskStore: a list is filtered by context, state and the time of the status, inclusive") {
  const task::TaskHead old = bench.create("old", "c1");
  bench.clock.advance(Duration(10));
  const task::TaskHead working = bench.create("working", "c1");
  bench.must(working, {status(State::working)});
  const task::TaskHead done = bench.create("done", "c2");
  bench.must(done, {status(State::working), status(State::completed)});

  task::ListFilter filter = all();
  filter.context = {"c1"};
  CHECK(ids(bench, filter) == Texts{"working", "old"});
  filter.state = State::working;
  CHECK(ids(bench, filter) == Texts{"working"});
  filter.context = {};
  filter.state = State::completed;
  CHECK(ids(bench, filter) == Texts{"done"});
  filter.context = {"c1"};
  CHECK(ids(bench, filter).empty());
  filter.context = {"of nobody"};
  CHECK(list(bench, filter).total == 0);

  filter = all();
  filter.status_since = bench.clock.now();
  CHECK(ids(bench, filter) == Texts{"working", "done"});
  filter.status_since = bench.clock.now() + Duration(1);
  CHECK(list(bench, filter).total == 0);
  filter.status_since = old.status_at;
  CHECK(list(bench, filter).total == 3);
}

STORE_TEST_CASE("TaskStore: callers with contexts of the same name do not share them") {
  bench.create("mine", "shared name");
  task::Change other = StoreBench::creation("theirs", {status(kSubmitted)}, "shared name");
  other.create->caller = {"bob"};
  bench.must(std::move(other));
  task::ListFilter filter = all();
  filter.context = {"shared name"};
  CHECK(ids(bench, filter) == Texts{"mine"});
  filter.caller = {"bob"};
  CHECK(ids(bench, filter) == Texts{"theirs"});
}

STORE_TEST_CASE("TaskStore: pages of a list give every task once, and each has the total") {
  for (int i = 0; i < 23; ++i) {
    if (i % 4 == 0) bench.clock.advance(Duration(1));
    const task::TaskHead head = bench.create("t" + std::to_string(i), i % 2 == 0 ? "even" : "odd");
    if (i % 3 == 0) bench.must(head, {status(State::working)});
  }
  const Texts whole = ids(bench, all(100));
  CHECK(whole.size() == 23);
  for (const int limit : {1, 4, 22, 23, 24}) CHECK(in_pages(bench, all(limit)) == whole);

  task::ListFilter filter = all(3);
  filter.context = {"even"};
  filter.state = State::working;
  CHECK(list(bench, filter).total == 4);
  CHECK(in_pages(bench, filter) == Texts{"t18", "t12", "t6", "t0"});
  filter.after = position(list(bench, filter).heads.back());
  CHECK(list(bench, filter).total == 4);
  CHECK(list(bench, all(0)).heads.empty());
  CHECK(list(bench, all(0)).total == 23);
}

STORE_TEST_CASE("TaskStore: a page begins after its position, even if the task at that position has moved") {
  for (const char* id : {"a", "b", "c", "d"}) {
    bench.create(id);
    bench.clock.advance(Duration(1));
  }
  const store::ListPage page = list(bench, all(2));
  CHECK(ids(page) == Texts{"d", "c"});
  bench.must(page.heads.back(), {status(State::working)});
  task::ListFilter next = all(2);
  next.after = position(page.heads.back());
  CHECK(ids(bench, next) == Texts{"b", "a"});
  next.after->id = {"c and no task's id"};
  CHECK(ids(bench, next) == Texts{"b", "a"});
}

namespace {

// The expected lists, computed by checking every task.
struct Model {
  std::vector<task::TaskHead> heads;

  std::vector<task::TaskHead> chosen(const task::ListFilter& filter) const {
    std::vector<task::TaskHead> found;
    for (const task::TaskHead& head : heads) {
      const bool fits = (filter.context.empty() || head.context == filter.context) &&
                        (!filter.state || head.state == *filter.state) &&
                        (!filter.status_since || head.status_at >= *filter.status_since);
      if (fits) found.push_back(head);
    }
    std::ranges::sort(found, [](const auto& a, const auto& b) {
      return std::tie(a.status_at, a.id) > std::tie(b.status_at, b.id);
    });
    return found;
  }
};

void check_lists(const StoreBench& bench, const Model& model, task::ListFilter filter) {
  Texts expected;
  for (const task::TaskHead& head : model.chosen(filter)) expected.push_back(head.id.value);
  CHECK(in_pages(bench, filter) == expected);
  CHECK(list(bench, filter).total == static_cast<std::int64_t>(expected.size()));
}

void check_all_lists(const StoreBench& bench, const Model& model, base::Timestamp since) {
  task::ListFilter filter = all(7);
  check_lists(bench, model, filter);
  filter.state = State::working;
  check_lists(bench, model, filter);
  filter.context = {"c1"};
  check_lists(bench, model, filter);
  filter.state.reset();
  check_lists(bench, model, filter);
  filter.status_since = since;
  check_lists(bench, model, filter);
  filter.context = {};
  check_lists(bench, model, filter);
}

}  // namespace

STORE_TEST_CASE("TaskStore: tasks with a turn and tasks at rest form one list with one total") {
  std::mt19937 random(5);
  const auto below = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
  constexpr std::array kTurns{task::TurnState::none, task::TurnState::queued, task::TurnState::running,
                              task::TurnState::waiting};
  constexpr std::array kStates{State::working, State::input_required, State::completed};
  Model model;
  const base::Timestamp begun = bench.clock.now();
  for (int i = 0; i < 120; ++i) {
    if (below(3) > 0) bench.clock.advance(Duration(below(20)));
    task::Change change;
    task::TaskHead* old = nullptr;
    if (i < 40) {
      change = StoreBench::creation("t" + std::to_string(below(1000)) + "-" + std::to_string(i),
                                    {status(kSubmitted), user("m")}, below(2) == 0 ? "c1" : "c2");
    } else {
      old = &model.heads[static_cast<std::size_t>(below(static_cast<int>(model.heads.size())))];
      if (task::is_terminal(old->state)) continue;
      change = StoreBench::change(*old, {});
      const State to = kStates[static_cast<std::size_t>(below(3))];
      if (task::may_move(old->state, to)) change.events.push_back(status(to));
    }
    change.turn.emplace();
    change.turn->state = kTurns[static_cast<std::size_t>(below(3))];
    const task::TaskHead now = bench.must(std::move(change)).head;
    (old != nullptr ? *old : model.heads.emplace_back()) = now;
    if (i % 20 == 19) check_all_lists(bench, model, begun + Duration(300));
  }
  bench.reopen();
  check_all_lists(bench, model, begun + Duration(300));
}

STORE_TEST_CASE("TaskStore: a task that is refused or rolled back is not counted") {
  const task::TaskHead first = bench.create("t1");
  CHECK_FALSE(bench.commit(StoreBench::creation("t1", {status(kSubmitted), user("m")})).has_value());
  task::Change late = StoreBench::change(first, {status(State::working)});
  late.expected = task::Version{99};
  CHECK_FALSE(bench.commit(std::move(late)).has_value());
  CHECK(list(bench, all()).total == 1);
}

STORE_TEST_CASE("TaskStore: a context created with fresh_context is found like any other") {
  task::Change change = StoreBench::creation("t1", {status(kSubmitted), user("m")}, "fresh");
  change.create->fresh_id = change.create->fresh_context = true;
  const task::TaskHead first = bench.must(std::move(change)).head;
  const task::TaskHead third = bench.create("t3", "fresh");
  CHECK(third.context_key == first.context_key);
}

}  // namespace contract_task_list_test
