// The contract of every store about conversations: their titles, their beginnings and their tasks.
#include <string>

#include "base/id.h"
#include "contract/store_bench.h"
#include "store/own_context.h"

namespace conversation_contract_test {

using namespace baton;
using namespace baton::test;
using base::ErrorCode;
using task::State;

namespace {

const task::ContextRef kHers{{"ann"}, {"echo"}, {"c1"}};

store::Opening opening(const StoreBench& bench, const task::ContextRef& context = kHers) {
  auto read = bench.tasks->opening(context);
  succeed(read);
  return std::move(*read);
}

std::string first_words(const StoreBench& bench, const task::ContextRef& context = kHers) {
  const auto message = opening(bench, context).message;
  return message ? task::text_of(*message) : "none";
}

void entitle(StoreBench& bench, const std::string& title, const task::ContextRef& context = kHers) {
  succeed(bench.tasks->entitle(context, title));
  succeed(bench.tasks->commit());
}

task::TaskHead said(StoreBench& bench, const std::string& id, const std::string& text,
                    const std::string& context = "c1") {
  bench.clock.advance(std::chrono::seconds(1));
  task::Change change = StoreBench::creation(id, {status(State::submitted), user("m-" + id, text)}, context);
  return bench.must(std::move(change)).head;
}

task::TaskHead answered(StoreBench& bench, const task::TaskHead& head) {
  return bench.must(head, {status(State::completed, message(task::Role::agent, "a", "well"))}).head;
}

// Creates a task that is alone in the context made for it.
task::TaskHead alone(StoreBench& bench, const std::string& text) {
  const std::string id = base::make_uuid();
  const auto context = store::own_context({id});
  REQUIRE(!context.empty());
  task::Change change = StoreBench::creation(id, {status(State::submitted), user("m", text)}, context.value);
  change.create->fresh_id = change.create->fresh_context = true;
  return bench.must(std::move(change)).head;
}

void remove(StoreBench& bench, const task::TaskHead& head) {
  const auto removed = bench.retention->remove({{{head.key, bench.head(head.key).version}}, true});
  succeed(removed);
  succeed(bench.tasks->commit());
  CHECK(removed->size() == 1);
  bench.rows.erase(head.key);
}

task::ContextRef context_of(const task::TaskHead& head) {
  return {head.caller, head.agent, head.context};
}

Texts tasks_in(const StoreBench& bench, const task::ContextRef& context) {
  const auto heads = bench.retention->in_context(context);
  succeed(heads);
  Texts found = test::ids(*heads);
  std::ranges::sort(found);
  return found;
}

}  // namespace

STORE_TEST_CASE("TaskStore: a conversation begins with the first existing message of its caller") {
  CHECK(first_words(bench) == "none");
  const task::TaskHead first = answered(bench, said(bench, "t1", "good day"));
  const base::Timestamp begun = opening(bench).at;
  CHECK(begun == bench.log(first).at(1).at);
  const task::TaskHead second = answered(bench, said(bench, "t2", "and now?"));
  CHECK(first_words(bench) == "good day");
  CHECK(opening(bench).at == begun);
  CHECK(first_words(bench, {{"ben"}, {"echo"}, {"c1"}}) == "none");
  CHECK(first_words(bench, {{"ann"}, {"other"}, {"c1"}}) == "none");
  remove(bench, first);
  CHECK(first_words(bench) == "and now?");
  remove(bench, second);
  CHECK(first_words(bench) == "none");
}

STORE_TEST_CASE("TaskStore: a conversation of one task begins with its message, also once it is longer") {
  const task::TaskHead first = alone(bench, "just this");
  const task::ContextRef context = context_of(first);
  CHECK(first_words(bench, context) == "just this");
  CHECK(tasks_in(bench, context) == Texts{first.id.value});
  said(bench, "t2", "and that", first.context.value);
  CHECK(first_words(bench, context) == "just this");
  CHECK(tasks_in(bench, context).size() == 2);
}

STORE_TEST_CASE(
    "TaskStore: a title belongs to one caller, can be changed and removed, and survives a restart") {
  said(bench, "t1", "good day");
  CHECK(opening(bench).title.empty());
  entitle(bench, "Weather");
  CHECK(opening(bench).title == "Weather");
  CHECK(first_words(bench) == "good day");
  entitle(bench, "Weather ☂ in Rome");
  bench.reopen();
  CHECK(opening(bench).title == "Weather ☂ in Rome");
  CHECK(opening(bench, {{"ben"}, {"echo"}, {"c1"}}).title.empty());
  entitle(bench, "");
  CHECK(opening(bench).title.empty());
}

STORE_TEST_CASE("TaskStore: a caller without a task in a context cannot set a title for it") {
  said(bench, "t1", "good day");
  for (const task::ContextRef& nothing : {task::ContextRef{{"ann"}, {"echo"}, {"c2"}},
                                          {{"ben"}, {"echo"}, {"c1"}},
                                          {{"ann"}, {"other"}, {"c1"}}}) {
    const auto refused = bench.tasks->entitle(nothing, "Mine");
    REQUIRE(!refused);
    CHECK(refused.error().code == ErrorCode::not_found);
  }
  succeed(bench.tasks->commit());
  CHECK(opening(bench).title.empty());
}

STORE_TEST_CASE("TaskStore: the title is removed with the last task, and does not return with a new one") {
  const task::TaskHead first = answered(bench, said(bench, "t1", "one")),
                       second = answered(bench, said(bench, "t2", "two"));
  entitle(bench, "Numbers");
  remove(bench, first);
  CHECK(opening(bench).title == "Numbers");
  remove(bench, second);
  CHECK(opening(bench).title.empty());
  said(bench, "t3", "three");
  CHECK(opening(bench).title.empty());
  const task::TaskHead own = answered(bench, alone(bench, "only this"));
  entitle(bench, "Alone", context_of(own));
  CHECK(opening(bench, context_of(own)).title == "Alone");
  remove(bench, own);
  CHECK(opening(bench, context_of(own)).title.empty());
}

STORE_TEST_CASE("RetentionStore: a context lists all of its tasks, including hidden ones, and no others") {
  said(bench, "t1", "one");
  task::Change hidden = StoreBench::creation("t2", {status(State::submitted), user("m-t2", "two")}, "c1");
  hidden.create->hidden = true;
  CHECK(bench.must(std::move(hidden)).head.hidden);
  said(bench, "t3", "three", "c2");
  CHECK(tasks_in(bench, kHers) == Texts{"t1", "t2"});
  CHECK(tasks_in(bench, {{"ben"}, {"echo"}, {"c1"}}).empty());
  CHECK(tasks_in(bench, {{"ann"}, {"echo"}, {"c3"}}).empty());
}

}  // namespace conversation_contract_test
