// The operators' view of all callers' tasks, on every store.
#include <set>

#include "contract/store_bench.h"

namespace operator_store_test {

using namespace baton;
using namespace baton::test;
using task::State;

namespace {

struct Made {
  std::string id, agent = "echo", caller = "ann", context = "c1";
  task::TaskKey parent = {};
  std::string schedule = {};
};

// Creates a submitted task, a second after the previous one.
task::TaskHead make(StoreBench& bench, const Made& made) {
  bench.clock.advance(std::chrono::seconds(1));
  task::Change change = StoreBench::creation(made.id, {status(State::submitted), user("m-" + made.id)});
  change.create->agent = {made.agent};
  change.create->caller = {made.caller};
  change.create->context = {made.context};
  change.create->parent = made.parent;
  change.create->schedule = made.schedule;
  change.turn.emplace();
  change.turn->turn = task::TurnNumber{1};
  change.turn->state = task::TurnState::queued;
  return bench.must(change).head;
}

task::TaskHead end(StoreBench& bench, const task::TaskHead& head, State state, const std::string& text = "") {
  task::Change change = StoreBench::change(
      head,
      {status(state, text.empty() ? std::nullopt : std::optional(message(task::Role::agent, "m", text)))});
  change.turn.emplace();
  change.turn->state = task::TurnState::none;
  return bench.must(change).head;
}

task::TaskHead ended(StoreBench& bench, const Made& made, State state, const std::string& text = "") {
  return end(bench, make(bench, made), state, text);
}

Texts ids_of(const store::TaskPage& page) {
  Texts found;
  for (const store::TaskLine& line : page.lines) found.push_back(line.head.id.value);
  return found;
}

Texts listed(const StoreBench& bench, const store::TaskFilter& filter, bool oldest_first = false) {
  store::TaskQuery query;
  query.filter = filter;
  query.oldest_first = oldest_first;
  query.time_max = query.found_time_max = std::chrono::minutes(1);
  const auto page = bench.operators->page(query);
  succeed(page);
  CHECK(!page->next);
  CHECK(!page->is_cut);
  return ids_of(*page);
}

std::int64_t counted(const StoreBench& bench, const store::TaskFilter& filter) {
  const auto count = bench.operators->count(filter);
  succeed(count);
  return count->exact ? count->tasks : -1;
}

}  // namespace

STORE_TEST_CASE("OperatorStore: each filter finds its tasks, of all callers, newest status first") {
  ended(bench, {"done"}, State::completed);
  const auto parent = make(bench, {"busy", "plan", "bob"});
  ended(bench, {"child", "echo", "bob", "c2", parent.key}, State::failed, "Out of MEMORY at line 3");
  ended(bench, {"asks", "plan", "ann", "c3"}, State::input_required, "Which one?");
  ended(bench, {"timed", "echo", "clock", "c4", {}, "nightly"}, State::canceled);

  CHECK(listed(bench, {}) == Texts{"timed", "asks", "child", "busy", "done"});
  CHECK(listed(bench, {}, true) == Texts{"done", "busy", "child", "asks", "timed"});
  CHECK(listed(bench, {.states = {State::failed}}) == Texts{"child"});
  CHECK(listed(bench, {.states = {State::completed, State::canceled}}) == Texts{"timed", "done"});
  CHECK(listed(bench, {.states = {State::submitted}}) == Texts{"busy"});
  CHECK(listed(bench, {.unfinished = true}) == Texts{"busy"});
  CHECK(listed(bench, {.turns = {task::TurnState::queued, task::TurnState::running}}) == Texts{"busy"});
  CHECK(listed(bench, {.turns = {task::TurnState::waiting}}).empty());
  CHECK(listed(bench, {.agent = {"plan"}}) == Texts{"asks", "busy"});
  CHECK(listed(bench, {.caller = {"ann"}}) == Texts{"asks", "done"});
  CHECK(listed(bench, {.states = {State::failed}, .agent = {"plan"}}).empty());
  CHECK(listed(bench, {.agent = {"echo"}, .caller = {"bob"}}) == Texts{"child"});
  CHECK(listed(bench, {.context = {"c1"}}) == Texts{"busy", "done"});
  CHECK(listed(bench, {.agent = {"plan"}, .context = {"c1"}}) == Texts{"busy"});
  CHECK(listed(bench, {.parent = parent.key}) == Texts{"child"});
  CHECK(listed(bench, {.roots = true}) == Texts{"timed", "asks", "busy", "done"});
  CHECK(listed(bench, {.schedule = "nightly"}) == Texts{"timed"});
  CHECK(listed(bench, {.schedule = "weekly"}).empty());
  CHECK(listed(bench, {.error = "memory AT"}) == Texts{"child"});
  CHECK(listed(bench, {.agent = {"nobody"}}).empty());
}

STORE_TEST_CASE("OperatorStore: a task is found by its id, its beginning and a UUID's last group") {
  const std::string first = "01a218ba-f064-7f34-9639-09e89348afb1",
                    second = "01a218ba-f064-7f34-9639-17e89348afb2",
                    other = "02b218ba-f064-7f34-9639-09e89348afb1";
  ended(bench, {first, "echo", "ann"}, State::completed);
  make(bench, {second, "plan", "bob"});
  ended(bench, {other, "plan", "ann"}, State::failed);
  ended(bench, {"Job 1", "echo", "bob"}, State::completed);
  ended(bench, {"Job 1\xC3\xA9", "echo", "bob"}, State::completed);
  ended(bench, {"09e89348afb1", "echo", "bob"}, State::completed);
  make(bench, {first, "plan", "bob"});

  CHECK(listed(bench, {.id = first}) == Texts{first, first});
  CHECK(listed(bench, {.agent = {"echo"}, .id = first}) == Texts{first});
  CHECK(listed(bench, {.caller = {"bob"}, .id = first}) == Texts{first});
  CHECK(listed(bench, {.id = "01a218ba"}) == Texts{first, second, first});
  CHECK(listed(bench, {.id = "01a218ba"}, true) == Texts{first, second, first});
  CHECK(listed(bench, {.unfinished = true, .id = "01a218ba"}) == Texts{first, second});
  CHECK(listed(bench, {.states = {State::failed}, .id = "0"}) == Texts{other});
  CHECK(listed(bench, {.id = "17e89348afb2"}) == Texts{second});
  CHECK(listed(bench, {.id = "09e89348afb1"}) == Texts{first, "09e89348afb1", other, first});
  CHECK(listed(bench, {.id = "Job 1"}) == Texts{"Job 1\xC3\xA9", "Job 1"});
  CHECK(listed(bench, {.id = "Job 1\xC3\xA9"}) == Texts{"Job 1\xC3\xA9"});
  CHECK(listed(bench, {.id = "job"}).empty());
  CHECK(listed(bench, {.id = "89348afb1"}).empty());
  CHECK(listed(bench, {.id = "%"}).empty());
  CHECK(counted(bench, {.id = first}) == -1);
}

STORE_TEST_CASE("OperatorStore: a caller is found with all its tenants, and within one of them") {
  const std::string north = std::string("north") + task::kTenantEnd + "ann";
  const std::string other = std::string("ann") + task::kTenantEnd + "bob";  // bob's tenant "ann"
  ended(bench, {"outside", "echo", "ann"}, State::completed);
  ended(bench, {"inside", "echo", north}, State::completed);
  make(bench, {"busy", "plan", north, "c2"});
  ended(bench, {"bobs", "echo", other}, State::completed);
  CHECK(listed(bench, {.caller = {"ann"}}) == Texts{"busy", "inside", "outside"});
  CHECK(listed(bench, {.caller = {north}}) == Texts{"busy", "inside"});
  CHECK(listed(bench, {.agent = {"echo"}, .caller = {"ann"}}) == Texts{"inside", "outside"});
  CHECK(listed(bench, {.unfinished = true, .caller = {"ann"}}) == Texts{"busy"});
  CHECK(listed(bench, {.agent = {"plan"}, .caller = {"ann"}, .context = {"c2"}}) == Texts{"busy"});
  CHECK(listed(bench, {.caller = {"bob"}}) == Texts{"bobs"});
  CHECK(counted(bench, {.caller = {"ann"}}) == 3);
  CHECK(counted(bench, {.caller = {north}}) == 2);
  CHECK(counted(bench, {.unfinished = true, .caller = {"ann"}}) == 1);
}

STORE_TEST_CASE("OperatorStore: pages follow each other without a gap, also within one millisecond") {
  std::set<std::string> all;
  for (int i = 0; i < 23; ++i) {
    const Made made{"t" + std::to_string(i * 7 % 23), i % 3 == 0 ? "plan" : "echo",
                    i % 2 == 0 ? "ann" : "bob"};
    const auto head = make(bench, made);
    if (i % 5 != 0) end(bench, head, i % 4 == 0 ? State::failed : State::completed);
    if (i % 6 != 5) bench.clock.advance(-std::chrono::seconds(1));  // several in one millisecond
    all.insert(made.id);
  }
  for (const bool oldest_first : {false, true}) {
    for (const store::TaskFilter& filter :
         {store::TaskFilter{}, store::TaskFilter{.agent = {"echo"}}, store::TaskFilter{.caller = {"ann"}},
          store::TaskFilter{.states = {State::failed, State::submitted}}}) {
      const Texts whole = listed(bench, filter, oldest_first);
      Texts paged;
      store::TaskQuery query;
      query.filter = filter;
      query.oldest_first = oldest_first;
      query.limit = 2;
      query.time_max = query.found_time_max = std::chrono::minutes(1);
      do {
        const auto page = bench.operators->page(query);
        succeed(page);
        REQUIRE(page->lines.size() <= 2);
        for (const std::string& id : ids_of(*page)) paged.push_back(id);
        query.after = page->next;
      } while (query.after);
      CHECK(paged == whole);
    }
  }
  CHECK(listed(bench, {}).size() == all.size());
}

STORE_TEST_CASE(
    "OperatorStore: a page that ran out of time names the next one's start, and no task is left out") {
  for (int i = 0; i < 9; ++i) {
    const auto head = make(bench, {"t" + std::to_string(i), i % 3 == 0 ? "plan" : "echo", "ann"});
    if (i % 2 != 0) end(bench, head, State::completed);
    if (i % 4 != 3) bench.clock.advance(std::chrono::seconds(1));
  }
  for (const bool oldest_first : {false, true}) {
    for (const store::TaskFilter& filter :
         {store::TaskFilter{}, store::TaskFilter{.agent = {"echo"}}, store::TaskFilter{.caller = {"bob"}}}) {
      Texts paged;
      store::TaskQuery query;
      query.filter = filter;
      query.oldest_first = oldest_first;
      query.time_max = query.found_time_max = {};
      do {
        const auto page = bench.operators->page(query);
        succeed(page);
        REQUIRE((!page->is_cut || page->next));
        for (const std::string& id : ids_of(*page)) paged.push_back(id);
        query.after = page->next;
      } while (query.after);
      CHECK(paged == listed(bench, filter, oldest_first));
    }
  }
}

STORE_TEST_CASE("OperatorStore: tasks are found by the age of their status and by their attempts") {
  const auto old = ended(bench, {"old"}, State::failed);
  bench.clock.advance(std::chrono::hours(1));
  const auto tried = make(bench, {"tried"});
  task::Change begins = StoreBench::change(tried, {});
  begins.turn.emplace();
  begins.turn->attempt = 3;
  bench.must(begins);
  CHECK(listed(bench, {.status_until = old.status_at}) == Texts{"old"});
  CHECK(listed(bench, {.status_until = old.status_at}, true) == Texts{"old"});
  CHECK(listed(bench, {.status_until = old.status_at - base::Duration(1)}).empty());
  CHECK(listed(bench, {.attempts_min = 2}) == Texts{"tried"});
}

STORE_TEST_CASE("OperatorStore: hidden tasks are listed while they have a turn") {
  task::Change change = StoreBench::creation("t1", {status(State::submitted), user("m")});
  change.create->hidden = true;
  change.turn.emplace();
  change.turn->state = task::TurnState::running;
  const auto head = bench.must(change).head;
  CHECK(listed(bench, {}) == Texts{"t1"});
  CHECK(counted(bench, {}) == 1);
  end(bench, head, State::completed);
  CHECK(listed(bench, {}).empty());
  CHECK(counted(bench, {}) == 0);
  CHECK(bench.operators->line(head.key)->head.id.value == "t1");
}

STORE_TEST_CASE("OperatorStore: counts by state, agent and caller are exact, others are unknown") {
  for (int i = 0; i < 5; ++i) ended(bench, {"d" + std::to_string(i)}, State::completed);
  ended(bench, {"f", "plan"}, State::failed);
  make(bench, {"b", "plan", "bob"});
  CHECK(counted(bench, {}) == 7);
  CHECK(counted(bench, {.states = {State::completed}}) == 5);
  CHECK(counted(bench, {.agent = {"plan"}}) == 2);
  CHECK(counted(bench, {.caller = {"ann"}}) == 6);
  CHECK(counted(bench, {.unfinished = true}) == 1);
  CHECK(counted(bench, {.roots = true}) == -1);  // counting these needs a scan
  CHECK(counted(bench, {.states = {State::submitted}, .agent = {"plan"}}) == 1);
  CHECK(counted(bench, {.error = "x"}) == -1);
  const auto agents = bench.operators->counts_by_agent();
  succeed(agents);
  REQUIRE(agents->size() == 2);
  CHECK(agents->at(0).agent.value == "echo");
  REQUIRE(agents->at(0).at_rest.size() == 1);
  CHECK(agents->at(0).at_rest[0] == std::pair(State::completed, std::int64_t{5}));
  CHECK(agents->at(1).queued == 1);
}

STORE_TEST_CASE("OperatorStore: a line has the last status's text, cut, and the task's origin") {
  std::string text = "x";
  for (int i = 0; i < 1'000; ++i) text += "\xc3\xa4";
  const auto head = ended(bench, {"t1", "echo", "ann", "c1", {}, "nightly"}, State::failed, text);
  const auto line = bench.operators->line(head.key);
  succeed(line);
  CHECK(line->text == text.substr(0, store::kLineTextMax - 1));
  CHECK(line->schedule == "nightly");
  CHECK(line->undelivered == 0);
  CHECK(bench.operators->line({77}).error().code == base::ErrorCode::task_not_found);
}

STORE_TEST_CASE("OperatorStore: after a task's end only an intervention may follow") {
  const auto head = ended(bench, {"t1"}, State::failed);
  const task::Intervention acted{"olga", "retry", "it was the disk", "12"};
  const auto after = bench.must(head, {acted}).head;
  CHECK(after.state == State::failed);
  CHECK(after.status_event == head.status_event);
  const auto log = bench.log(after);
  REQUIRE(std::holds_alternative<task::Intervention>(log.back().body));
  const auto& stored = std::get<task::Intervention>(log.back().body);
  CHECK(stored.actor == "olga");
  CHECK(stored.action == "retry");
  CHECK(stored.reason == "it was the disk");
  CHECK(stored.detail == "12");
  CHECK(bench.commit(StoreBench::change(after, {delta("r", "x")})).error().code == base::ErrorCode::conflict);
}

STORE_TEST_CASE(
    "OperatorStore: the audit has entries of changes and refusals, newest first, after restarts") {
  const auto head = make(bench, {"t1"});
  task::Change change = StoreBench::change(head, {status(State::canceled)});
  change.audit = std::make_shared<const task::AuditEntry>(task::AuditEntry{"olga", "cancel", "too late"});
  change.turn.emplace();
  change.turn->state = task::TurnState::none;
  bench.must(change);
  succeed(bench.operators->write(task::AuditEntry{"otto", "pause", "night", {}, {}, {"echo"}}));
  succeed(bench.tasks->commit());
  bench.reopen();
  const auto all = bench.operators->audit({}, 0, 10);
  succeed(all);
  REQUIRE(all->lines.size() == 2);
  CHECK(all->next == 0);
  CHECK(all->lines[0].entry.actor == "otto");
  CHECK(all->lines[0].entry.agent.value == "echo");
  const task::AuditEntry& cancel = all->lines[1].entry;
  CHECK(cancel.task == head.key);
  CHECK(cancel.id.value == "t1");
  CHECK(cancel.caller.value == "ann");
  CHECK(cancel.reason == "too late");
  CHECK(cancel.outcome == task::kDone);
  CHECK(bench.operators->audit({.task = head.key}, 0, 10)->lines.size() == 1);
  CHECK(bench.operators->audit({.actor = "otto"}, 0, 10)->lines.size() == 1);
  CHECK(bench.operators->audit({.action = "resume"}, 0, 10)->lines.empty());
  const auto first = bench.operators->audit({}, 0, 1);
  REQUIRE(first->next != 0);
  CHECK(bench.operators->audit({}, first->next, 1)->lines[0].entry.actor == "olga");
}

STORE_TEST_CASE("OperatorStore: a refused change leaves no row in the audit") {
  const auto head = make(bench, {"t1"});
  task::Change change = StoreBench::change(head, {});
  change.expected = task::Version{head.version.value + 1};
  change.audit = std::make_shared<const task::AuditEntry>(task::AuditEntry{"olga", "cancel", "too late"});
  CHECK(!bench.commit(change));
  CHECK(bench.operators->audit({}, 0, 10)->lines.empty());
}

STORE_TEST_CASE("OperatorStore: the last pause or resume of each agent is kept") {
  succeed(bench.operators->write(store::AgentControl{{"echo"}, true, "olga", "broken", {}}));
  succeed(bench.operators->write(store::AgentControl{{"plan"}, true, "olga", "broken", {}}));
  succeed(bench.operators->write(store::AgentControl{{"plan"}, false, "otto", "mended", {}}));
  succeed(bench.tasks->commit());
  bench.reopen();
  const auto controls = bench.operators->agent_controls();
  succeed(controls);
  REQUIRE(controls->size() == 2);
  CHECK(controls->at(0).paused);
  CHECK(!controls->at(1).paused);
  CHECK(controls->at(1).actor == "otto");
}

STORE_TEST_CASE("OperatorStore: an agent's scale and its pause do not affect each other") {
  succeed(bench.operators->write(store::AgentScale{{"echo"}, 4, {}, "olga", "a rush"}));
  succeed(bench.operators->write(store::AgentControl{{"echo"}, true, "otto", "broken", {}}));
  succeed(bench.operators->write(store::AgentScale{{"echo"}, {}, 9, "olga", "a rush"}));
  succeed(bench.operators->write(store::AgentScale{{"plan"}, 2, 3, "olga", "a rush"}));
  succeed(bench.operators->write(store::AgentScale{{"plan"}, 0, {}, "olga", "it is over"}));
  succeed(bench.tasks->commit());
  bench.reopen();
  const auto controls = bench.operators->agent_controls();
  succeed(controls);
  REQUIRE(controls->size() == 2);
  CHECK(controls->at(0).paused);
  CHECK(controls->at(0).actor == "otto");
  CHECK(controls->at(0).workers == 4);
  CHECK(controls->at(0).concurrency == 9);
  CHECK(!controls->at(1).paused);
  CHECK(controls->at(1).workers == 0);
  CHECK(controls->at(1).concurrency == 3);
}

STORE_TEST_CASE("OperatorStore: a job item's outcome is stored with its action, and the first one is kept") {
  const auto a = make(bench, {"a"}), b = make(bench, {"b"});
  store::BulkJob job;
  job.key = {1};
  job.actor = "olga";
  job.action = "cancel";
  job.reason = "a storm";
  job.filter = "{}";
  job.tasks = 2;
  succeed(bench.operators->write(job));
  succeed(bench.operators->write(store::BulkItems{{1}, {a.key, b.key}}));
  succeed(bench.operators->write(store::BulkState{{1}, store::BulkJob::State::running}));
  succeed(bench.tasks->commit());
  CHECK(bench.operators->write(job).error().code == base::ErrorCode::already_exists);

  task::AuditEntry entry{"olga", "cancel", "a storm"};
  entry.job = {1};
  task::Change change = StoreBench::change(a, {status(State::canceled)});
  change.audit = std::make_shared<const task::AuditEntry>(entry);
  bench.must(change);
  entry.task = b.key;
  entry.outcome = "conflict";
  for (int i = 0; i < 2; ++i) succeed(bench.operators->write(entry));
  succeed(bench.tasks->commit());
  bench.reopen();

  const auto stored = bench.operators->bulk_job({1});
  succeed(stored);
  CHECK(stored->done == 1);
  CHECK(stored->refused == 1);
  CHECK(stored->state == store::BulkJob::State::running);
  CHECK(stored->reason == "a storm");
  CHECK(bench.operators->bulk_items({1}, {}, 10, true)->empty());
  const auto items = bench.operators->bulk_items({1}, {}, 10, false);
  REQUIRE(items->size() == 2);
  CHECK(items->at(0).outcome == task::kDone);
  CHECK(items->at(1).outcome == "conflict");
  CHECK(bench.operators->bulk_items({1}, a.key, 10, false)->size() == 1);
  CHECK(bench.operators->bulk_jobs(10)->size() == 1);
  CHECK(bench.operators->bulk_job({2}).error().code == base::ErrorCode::not_found);
}

STORE_TEST_CASE(
    "OperatorStore: a job that runs is not abandoned, and an abandoned job neither runs nor is done") {
  using JobState = store::BulkJob::State;
  store::BulkJob job;
  job.actor = "olga";
  job.action = "cancel";
  job.reason = "a storm";
  job.filter = "{}";
  for (const std::int64_t key : {1, 2}) {
    job.key = {key};
    succeed(bench.operators->write(job));
  }
  const auto set = [&](std::int64_t key, JobState state) {
    return bench.operators->write(store::BulkState{{key}, state});
  };
  const auto is_refused = [&](std::int64_t key, JobState state) {
    const auto written = set(key, state);
    return !written && written.error().code == base::ErrorCode::conflict;
  };
  const auto check_refusals = [&] {
    CHECK(is_refused(1, JobState::abandoned));
    CHECK(is_refused(1, JobState::running));
    CHECK(is_refused(2, JobState::running));
    CHECK(is_refused(2, JobState::done));
  };
  succeed(set(1, JobState::running));
  succeed(set(2, JobState::abandoned));
  check_refusals();
  succeed(bench.tasks->commit());
  check_refusals();
  CHECK(set(3, JobState::running).error().code == base::ErrorCode::not_found);
  succeed(set(1, JobState::done));
  succeed(bench.tasks->commit());
  bench.reopen();
  CHECK(bench.operators->bulk_job({1})->state == JobState::done);
  CHECK(bench.operators->bulk_job({2})->state == JobState::abandoned);
}

STORE_TEST_CASE("OperatorStore: a retried task is shown with the newest task that a retry created") {
  const auto broken = ended(bench, {"broken"}, State::failed);
  ended(bench, {"other"}, State::failed);
  task::AuditEntry entry{"olga", "retry", "because", "21"};
  entry.task = broken.key;
  const auto write = [&] {
    succeed(bench.operators->write(entry));
    succeed(bench.tasks->commit());
  };
  entry.outcome = "conflict";
  write();
  CHECK(listed(bench, {.retried = true}).empty());
  entry.outcome = task::kDone;
  write();
  entry.detail = "22";
  write();
  CHECK(listed(bench, {.retried = true}) == Texts{"broken"});
  CHECK(listed(bench, {.states = {State::failed}, .retried = false}) == Texts{"other"});
  CHECK(bench.operators->line(broken.key)->retried_as.value == 22);
  CHECK(counted(bench, {.retried = true}) == -1);
}

STORE_TEST_CASE("OperatorStore: a child's question that its parent also shows is counted and found once") {
  const auto parent = make(bench, {"parent", "plan"});
  bench.must(parent, {status(State::input_required)});
  ended(bench, {"child", "echo", "ann", "c2", parent.key}, State::input_required);
  const store::TaskFilter shown{.states = {State::input_required}};
  const store::TaskFilter asked{.states = {State::input_required}, .turns = {task::TurnState::none}};
  CHECK(counted(bench, shown) == 2);
  CHECK(counted(bench, asked) == 1);
  CHECK(listed(bench, asked) == Texts{"child"});
}

STORE_TEST_CASE("OperatorStore: pages with keys only have the same keys as full pages") {
  for (int i = 0; i < 4; ++i) {
    ended(bench, {"failed" + std::to_string(i)}, State::failed, "words");
    make(bench, {"busy" + std::to_string(i), "plan"});
  }
  const auto keys_of = [&](const store::TaskFilter& filter, bool keys_only) {
    std::vector<task::TaskKey> keys;
    store::TaskQuery query;
    query.filter = filter;
    query.limit = 3;
    query.time_max = query.found_time_max = std::chrono::minutes(1);
    query.keys_only = keys_only;
    do {
      const auto page = bench.operators->page(query);
      succeed(page);
      for (const store::TaskLine& line : page->lines) keys.push_back(line.head.key);
      query.after = page->next;
    } while (query.after);
    return keys;
  };
  for (const store::TaskFilter& filter :
       {store::TaskFilter{}, store::TaskFilter{.states = {State::failed}},
        store::TaskFilter{.unfinished = true}, store::TaskFilter{.agent = {"plan"}},
        store::TaskFilter{.error = "WORDS"}, store::TaskFilter{.turns = {task::TurnState::none}},
        store::TaskFilter{.retried = false}}) {
    const auto keys = keys_of(filter, true);
    CHECK(keys == keys_of(filter, false));
    CHECK(keys.size() >= 4);
  }
}

STORE_TEST_CASE("OperatorStore: a job's count and node are kept while it is prepared") {
  store::BulkJob job;
  job.key = {1};
  job.actor = "olga";
  job.action = "retry";
  job.reason = "because";
  job.filter = "{}";
  job.node = {7};
  succeed(bench.operators->write(job));
  succeed(bench.operators->write(store::BulkCount{{1}, 1'000, false}));
  succeed(bench.tasks->commit());
  CHECK(bench.operators->bulk_job({1})->tasks == 1'000);
  CHECK(!bench.operators->bulk_job({1})->counted);
  succeed(bench.operators->write(store::BulkCount{{1}, 1'234, true}));
  succeed(bench.tasks->commit());
  bench.reopen();
  const auto kept = bench.operators->bulk_job({1});
  CHECK(kept->tasks == 1'234);
  CHECK(kept->counted);
  CHECK(kept->node.value == 7);
  CHECK(kept->state == store::BulkJob::State::preparing);
}

namespace {

task::TaskHead run(StoreBench& bench, const task::TaskHead& head) {
  task::Change change = StoreBench::change(head, {status(State::working)});
  change.turn.emplace();
  change.turn->state = task::TurnState::running;
  return bench.must(change).head;
}

void write(StoreBench& bench, const store::OperatorWrite& what) {
  succeed(bench.operators->write(what));
  succeed(bench.tasks->commit());
}

std::vector<store::CrashedTurn> crashed(const StoreBench& bench) {
  const auto turns = bench.operators->crashed_turns();
  succeed(turns);
  return *turns;
}

}  // namespace

STORE_TEST_CASE("OperatorStore: deaths of turns are kept until they are cleared or the turn has ended") {
  const auto one = run(bench, make(bench, {"one"}));
  const auto two = run(bench, make(bench, {"two"}));
  CHECK(crashed(bench).empty());
  const base::Timestamp now = bench.clock.now();
  store::CrashedTurn first{one.key, one.turn, 3, 1, {7}, store::CrashedTurn::Seen::death, {}};
  store::CrashedTurn second{two.key, two.turn, 1, 0, {2}, {}, now};
  write(bench, store::CrashCounts{{second, first}});
  bench.reopen();
  auto kept = crashed(bench);
  REQUIRE(kept.size() == 2);
  CHECK(kept[0].task == one.key);
  CHECK(kept[0].turn == one.turn);
  CHECK(kept[0].deaths == 3);
  CHECK(kept[0].alone == 1);
  CHECK(kept[0].last_event.value == 7);
  CHECK(kept[0].seen == store::CrashedTurn::Seen::death);
  CHECK_FALSE(kept[0].quarantined);
  // Its turn is running, so it is not quarantined.
  CHECK_FALSE(kept[1].quarantined);
  task::Change waits = StoreBench::change(two, {});
  waits.turn.emplace();
  waits.turn->state = task::TurnState::waiting;
  waits.turn->waits = {-1, false, now + std::chrono::hours(1)};
  bench.must(waits);
  CHECK(crashed(bench).at(1).quarantined == now);

  first.deaths = 4;
  write(bench, store::CrashCounts{{first}});
  CHECK(crashed(bench).at(0).deaths == 4);
  end(bench, one, State::completed);
  CHECK(crashed(bench).size() == 1);
  write(bench, store::ProgramBegins{true});
  second.deaths = 0;
  write(bench, store::CrashCounts{{second}});
  CHECK(crashed(bench).empty());
}

// On PostgreSQL the node that takes over records them: postgres_deaths_test.cpp.
#ifndef BATON_CONTRACT_ON_POSTGRES
STORE_TEST_CASE("OperatorStore: the turns that ran when the program died are recorded, and which ran alone") {
  using Seen = store::CrashedTurn::Seen;
  const auto one = run(bench, make(bench, {"one"}));
  const auto two = run(bench, make(bench, {"two"}));
  make(bench, {"queued"});
  const auto parent = run(bench, make(bench, {"parent", "plan"}));
  const auto child = make(bench, {"child", "echo", "ann", "c2", parent.key});
  write(bench, store::ProgramBegins{});
  CHECK(crashed(bench).empty());  // there is no record that the program died
  write(bench, store::ProgramStops{true});
  write(bench, store::ProgramBegins{});
  CHECK(crashed(bench).empty());
  write(bench, store::ProgramStops{false});
  write(bench, store::ProgramBegins{});
  auto noted = crashed(bench);
  REQUIRE(noted.size() == 2);
  CHECK(noted[0].task == one.key);
  CHECK(noted[1].task == two.key);
  for (const store::CrashedTurn& turn : noted) {
    CHECK(turn.deaths == 0);
    CHECK(turn.seen == Seen::death);
  }
  for (store::CrashedTurn& turn : noted) {
    turn.deaths = turn.task == one.key ? 3 : 2;
    turn.seen = Seen::none;
  }
  write(bench, store::CrashCounts{noted});
  end(bench, child, State::completed);
  write(bench, store::ProgramBegins{});
  noted = crashed(bench);
  REQUIRE(noted.size() == 3);
  CHECK(noted[0].seen == Seen::death_alone);
  CHECK(noted[0].deaths == 3);
  CHECK(noted[1].seen == Seen::death);
  CHECK(noted[2].task == parent.key);
  noted[1].deaths = 3;
  write(bench, store::CrashCounts{noted});
  write(bench, store::ProgramBegins{});
  CHECK(crashed(bench).at(0).seen == Seen::death);
  CHECK(crashed(bench).at(1).seen == Seen::death);
}
#endif

}  // namespace operator_store_test
