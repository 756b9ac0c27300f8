// The contract of every RetentionStore: which tasks can be removed, with which data, and which stay.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/id.h"
#include "contract/store_bench.h"
#include "store/own_context.h"

#define STORES_THAT_FORGET baton::test::SqliteBench, baton::test::MemoryBench

namespace retention_store_test {

using namespace baton;
using namespace baton::test;
using task::State;

namespace {

std::size_t remove(StoreBench& bench, const std::vector<task::TaskHead>& heads, bool erases = false) {
  store::Removal removal;
  for (const task::TaskHead& head : heads) removal.tasks.push_back({head.key, bench.head(head.key).version});
  removal.erases = erases;
  const auto removed = bench.retention->remove(removal);
  succeed(removed);
  succeed(bench.tasks->commit());
  for (const store::Removed& one : *removed) bench.rows.erase(one.task);
  return removed->size();
}

bool is_gone(const StoreBench& bench, const task::TaskHead& head) {
  const auto row = bench.tasks->row(head.key);
  const auto found = bench.tasks->find({head.caller, head.agent, head.id});
  CHECK(row.has_value() == found.has_value());
  return !row && row.error().code == base::ErrorCode::task_not_found;
}

task::TaskHead ended(StoreBench& bench, const std::string& id, const std::string& context) {
  const task::TaskHead head = bench.create(id, context);
  return bench.must(head, {status(State::completed, message(task::Role::agent, "a-" + id, "bye"))}).head;
}

task::TaskHead child(StoreBench& bench, const std::string& id, const task::TaskHead& parent) {
  task::Change change = StoreBench::creation(id, {status(State::submitted), user("m")}, "c-" + id);
  change.create->parent = parent.key;
  const task::TaskHead head = bench.must(std::move(change)).head;
  return bench.must(head, {status(State::completed)}).head;
}

std::int64_t listed(const StoreBench& bench, const std::string& context = {}) {
  task::ListFilter filter;
  filter.caller = {"ann"};
  filter.agent = {"echo"};
  filter.context = {context};
  const auto page = bench.tasks->list(filter);
  succeed(page);
  CHECK(page->total == std::ssize(page->heads));
  return page->total;
}

task::PushConfig webhook() {
  task::PushConfig config;
  config.id = {"w"};
  config.url = "https://example.org/hook";
  return config;
}

}  // namespace

STORE_TEST_CASE_ON("RetentionStore: an ended task is removed with all of its data", STORES_THAT_FORGET) {
  task::Change made = StoreBench::creation("t1", {status(State::submitted), user("m1", "a secret")}, "c1");
  made.create->metadata = {"{\"of\":\"t1\"}"};
  made.request.emplace();
  made.request->metadata = {"{\"with\":\"m1\"}"};
  const task::TaskHead head = bench.must(std::move(made)).head;
  bench.must(head, {chunk("a", "an artifact", false), status(State::completed)});
  CHECK(listed(bench) == 1);
  CHECK(remove(bench, {head}) == 1);
  CHECK(is_gone(bench, head));
  CHECK(bench.tasks->events(head.key, {}, 10).value().empty());
  CHECK(!bench.tasks->turn_input(head.key, {2}).has_value());
  CHECK(listed(bench) == 0);
  CHECK(listed(bench, "c1") == 0);
  bench.reopen();
  CHECK(is_gone(bench, head));
}

STORE_TEST_CASE_ON("RetentionStore: a task that has not ended, has changed or has children is not removed",
                   STORES_THAT_FORGET) {
  const task::TaskHead working = bench.create("t1", "c1");
  CHECK(remove(bench, {working}) == 0);
  const task::TaskHead asks = bench.create("t2", "c2");
  bench.must(asks, {status(State::input_required)});
  CHECK(remove(bench, {asks}) == 0);

  const task::TaskHead parent = ended(bench, "t3", "c3");
  const task::TaskHead below = child(bench, "t4", parent);
  CHECK(remove(bench, {parent}) == 0);
  CHECK(bench.retention->tree(parent.key, 10).value().size() == 2);
  CHECK(!bench.retention->tree(parent.key, 1).has_value());

  const task::TaskHead other = ended(bench, "t5", "c5");
  const auto removed = bench.retention->remove({{{other.key, {other.version.value + 1}}}, false});
  CHECK(removed.value().empty());
  succeed(bench.tasks->commit());
  CHECK(!is_gone(bench, other));

  // Children come first, so both are removed in one group.
  CHECK(remove(bench, {below, parent}) == 2);
  CHECK(is_gone(bench, parent));
  CHECK(listed(bench) == 3);
}

STORE_TEST_CASE_ON("RetentionStore: a child stays if its parent was reopened", STORES_THAT_FORGET) {
  const task::TaskHead parent = ended(bench, "t1", "c1");
  const task::TaskHead below = child(bench, "t2", parent);
  task::Change again = StoreBench::change(bench.head(parent.key), {status(State::submitted)});
  again.reopen = true;
  bench.must(std::move(again));
  CHECK(remove(bench, {below, parent}) == 0);
  bench.must(bench.head(parent.key), {status(State::completed)});
  CHECK(remove(bench, {below, parent}) == 2);
}

STORE_TEST_CASE_ON("RetentionStore: a task with a pending delivery is removed only by an erasure",
                   STORES_THAT_FORGET) {
  const task::TaskHead head = bench.create("t1");
  succeed(bench.set_push(head.key, webhook(), 10));
  bench.must(head, {status(State::completed)});
  CHECK(bench.deliveries->delivery_counts()->waiting == 1);
  CHECK(bench.retention->tree(head.key, 10).value().front().delivers);
  CHECK(remove(bench, {head}) == 0);
  const auto due = bench.deliveries->due_deliveries(bench.clock.now(), 10).value();
  REQUIRE(due.size() == 1);
  CHECK(remove(bench, {head}, true) == 1);
  CHECK(bench.deliveries->delivery_counts()->waiting == 0);
  CHECK(!bench.deliveries->next_due().value().has_value());
  // The result of its attempt may still arrive.
  CHECK(bench.record({due.front().key, store::DeliveryResult::Kind::delivered, {}, {}}).has_value());

  const task::TaskHead sent = bench.create("t2");
  succeed(bench.set_push(sent.key, webhook(), 10));
  bench.must(sent, {status(State::completed)});
  const auto next = bench.deliveries->due_deliveries(bench.clock.now(), 10).value();
  succeed(bench.record({next.at(0).key, store::DeliveryResult::Kind::given_up, {}, "gone"}));
  CHECK(remove(bench, {sent}) == 1);
  CHECK(bench.deliveries->delivery_counts()->given_up == 0);
}

STORE_TEST_CASE_ON(
    "RetentionStore: a context keeps the messages of its other tasks, and is removed with the last",
    STORES_THAT_FORGET) {
  const auto call = [](const std::string& id) {
    task::ToolCall made;
    made.id = id;
    made.name = "n";
    return made;
  };
  const task::TaskHead one = bench.create("t1", "shared");
  bench.must(one, {call("call-1"), status(State::completed, message(task::Role::agent, "a1", "first"))});
  bench.clock.advance(std::chrono::seconds(1));
  const task::TaskHead two = bench.create("t2", "shared");
  bench.must(two, {call("call-2"), status(State::completed, message(task::Role::agent, "a2", "second"))});
  CHECK(bench.context(one.context_key).said.size() == 4);

  CHECK(remove(bench, {one}) == 1);
  CHECK(texts(bench.context(two.context_key).said) == Texts{"hello", "second"});
  CHECK(bench.context(two.context_key).call_ids == Texts{"call-2"});
  CHECK(listed(bench, "shared") == 1);
  const task::TaskHead three = ended(bench, "t3", "shared");
  CHECK(three.context_key == two.context_key);

  CHECK(remove(bench, {two, three}) == 2);
  CHECK(bench.context(two.context_key).said.empty());
  CHECK(bench.context(two.context_key).call_ids.empty());
  const task::TaskHead anew = ended(bench, "t4", "shared");
  CHECK(texts(bench.context(anew.context_key).said) == Texts{"hello", "bye"});
}

STORE_TEST_CASE_ON(
    "RetentionStore: a context is removed with its last task, even if the clock was set back meanwhile",
    STORES_THAT_FORGET) {
  const task::TaskHead head = bench.create("t1", "shared");
  bench.clock.advance(-std::chrono::hours(1));
  bench.reopen();
  bench.must(head, {status(State::completed, message(task::Role::agent, "a1", "bye"))});
  CHECK(remove(bench, {head}) == 1);
  CHECK(bench.context(head.context_key).said.empty());
  // Only a context that is there can have a title.
  const auto entitled = bench.tasks->entitle({head.caller, head.agent, head.context}, "a title");
  REQUIRE(!entitled);
  CHECK(entitled.error().code == base::ErrorCode::not_found);
}

STORE_TEST_CASE_ON(
    "RetentionStore: the first task of its own context can be removed before those that joined it",
    STORES_THAT_FORGET) {
  task::Change made = StoreBench::creation(base::make_uuid(), {status(State::submitted), user("m", "first")});
  made.create->fresh_id = made.create->fresh_context = true;
  made.create->context = store::own_context(made.create->id);
  const std::string context = made.create->context.value;
  const task::TaskHead first = bench.must(std::move(made)).head;
  bench.must(first, {status(State::completed)});
  const task::TaskHead joined = ended(bench, "t2", context);
  CHECK(joined.context_key == first.context_key);
  CHECK(remove(bench, {first}) == 1);
  CHECK(texts(bench.context(joined.context_key).said) == Texts{"hello", "bye"});
  CHECK(ended(bench, "t3", context).context_key == joined.context_key);
  CHECK(listed(bench, context) == 2);
}

STORE_TEST_CASE_ON("RetentionStore: keys are never reused, so a repeated send never finds another task",
                   STORES_THAT_FORGET) {
  task::Change made = StoreBench::creation("t1", {status(State::submitted), user("m")});
  made.send = task::SendDigest{1, 2};
  const task::TaskHead head = bench.must(std::move(made)).head;
  bench.must(head, {status(State::completed)});
  CHECK(remove(bench, {head}) == 1);
  bench.reopen();
  const task::TaskHead next = bench.create("t2");
  CHECK(next.key > head.key);
  CHECK(bench.tasks->earlier_send({1, 2}).value().task == head.key);
  // The id is free again; the send is still a repetition.
  task::Change again = StoreBench::creation("t1", {status(State::submitted), user("m")});
  again.send = task::SendDigest{1, 2};
  CHECK(bench.commit(again).error().code == base::ErrorCode::already_exists);
  CHECK(bench.create("t1").key > next.key);
}

STORE_TEST_CASE_ON("RetentionStore: all tasks are read in order of creation, by page and by time",
                   STORES_THAT_FORGET) {
  CHECK(!bench.retention->last_made(bench.clock.now()).value());
  std::vector<task::TaskHead> heads;
  std::vector<base::Timestamp> made;
  for (int i = 0; i < 9; ++i) {
    bench.clock.advance(std::chrono::seconds(10));
    heads.push_back(ended(bench, "t" + std::to_string(i), "c" + std::to_string(i)));
    made.push_back(bench.clock.now());
  }
  CHECK(remove(bench, {heads[4]}) == 1);
  std::vector<std::string> seen;
  for (task::TaskKey after;;) {
    const auto page = bench.retention->all_tasks(after, 3).value();
    if (page.empty()) break;
    CHECK(page.size() <= 3);
    for (const task::TaskHead& head : page) seen.push_back(head.id.value);
    after = page.back().key;
  }
  CHECK(seen == Texts{"t0", "t1", "t2", "t3", "t5", "t6", "t7", "t8"});
  using std::chrono::seconds;
  CHECK(bench.retention->last_made(made[0] - seconds(1)).value() < heads[0].key);
  CHECK(bench.retention->last_made(made[2]).value() == heads[2].key);
  const task::TaskKey at_gap = bench.retention->last_made(made[4] + seconds(1)).value();
  CHECK(at_gap >= heads[3].key);
  CHECK(at_gap < heads[5].key);
  CHECK(bench.retention->last_made(made[8] + seconds(1)).value() >= heads[8].key);
}

TEST_CASE("RetentionStore: a long log is removed in steps, and so are the pages of the file") {
  SqliteBench bench;
  const task::TaskHead head = bench.create("t1");
  const std::string text(100'000, 'x');
  for (int i = 0; i < 60; ++i) bench.must(head, {chunk("a" + std::to_string(i), text, false)});
  bench.must(head, {status(State::completed)});
  CHECK(remove(bench, {head}) == 1);
  CHECK(is_gone(bench, head));
  bench.reopen();  // the remaining work survives a restart
  int steps = 0;
  for (bool more = true; more; ++steps) {
    const auto tidied = bench.retention->tidy(0);
    succeed(tidied);
    succeed(bench.tasks->commit());
    more = *tidied;
  }
  CHECK(steps > 6);
  bench.close();
  CHECK(std::filesystem::file_size(bench.path()) < 600'000);
  bench.open();
}

TEST_CASE("RetentionStore: no byte of erased data is left in the file") {
  SqliteBench bench;
  const std::string marker = "MARKER-7f3a";
  std::vector<task::TaskHead> erased;
  for (int i = 0; i < 200; ++i) {
    // The callers alternate, so that logs of all sizes are interleaved in the file.
    const bool goes = i % 3 == 1;
    const std::string id = (goes ? marker : std::string("other")) + "-" + std::to_string(i);
    const std::string text = id + std::string(static_cast<std::size_t>(i % 7) * 900, 'x');
    task::Change made =
        StoreBench::creation(id, {status(State::submitted), user("m-" + id, text)}, "c-" + id);
    if (goes) made.create->caller = {marker};
    made.create->metadata = {"{\"of\":\"" + id + "\"}"};
    const task::TaskHead head = bench.must(std::move(made)).head;
    bench.must(head, {chunk("a", text, false), chunk("a", text + text, true)});
    if (goes) succeed(bench.set_push(head.key, webhook(), 10));
    bench.must(head, {status(State::completed, message(task::Role::agent, "r-" + id, text))});
    if (goes) erased.push_back(head);
  }
  CHECK(remove(bench, erased, true) == erased.size());
  for (bool more = true; more; succeed(bench.tasks->commit())) more = bench.retention->tidy(0).value();
  bench.close();
  std::ifstream file(bench.path(), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  CHECK(bytes.find("other-0") != std::string::npos);
  CHECK(bytes.find(marker) == std::string::npos);
  bench.open();
}

TEST_CASE("RetentionStore: a new database never had tasks from before retention, also after a restart") {
  SqliteBench bench;
  CHECK(!bench.retention->kept_before());
  bench.create("t1");
  bench.reopen();
  CHECK(!bench.retention->kept_before());
}

}  // namespace retention_store_test
