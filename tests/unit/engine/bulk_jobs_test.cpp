// Bulk jobs: one action on many tasks.
#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <set>
#include <thread>
#include <vector>

#include "support/engine_bench.h"
#include "support/fake_peers.h"

namespace bulk_jobs_test {

using namespace baton;
using base::ErrorCode;
using engine::BulkAction;
using task::State;
using test::EngineBench;

namespace {

engine::BulkRequest request(BulkAction action, std::optional<std::int64_t> expected,
                            store::TaskFilter filter = {}) {
  engine::BulkRequest made;
  made.action = action;
  made.filter = std::move(filter);
  made.filter_text = "{}";
  made.expected = expected;
  made.actor = "olga";
  made.reason = "a storm";
  return made;
}

// Submits tasks that wait for their start time.
std::vector<task::TaskKey> delayed(EngineBench& bench, int count) {
  std::vector<task::TaskKey> keys;
  for (int i = 0; i < count; ++i) {
    auto submission = EngineBench::message("work " + std::to_string(i));
    submission.start_at = base::SystemClock().now() + std::chrono::hours(1);
    const auto accepted = bench.submit(std::move(submission));
    REQUIRE(accepted);
    keys.push_back(accepted->key);
  }
  return keys;
}

template <class F>
store::BulkJob once(EngineBench& bench, task::BulkJobKey key, F&& is_so) {
  const auto until = std::chrono::steady_clock::now() + test::patience();
  while (std::chrono::steady_clock::now() < until) {
    const auto job = bench.store().bulk_job(key);
    if (job && is_so(*job)) return *job;
    std::this_thread::yield();
  }
  return {};
}

store::BulkJob finished(EngineBench& bench, task::BulkJobKey key) {
  return once(bench, key, [](const store::BulkJob& job) { return job.state == store::BulkJob::State::done; });
}

store::BulkJob counted(EngineBench& bench, task::BulkJobKey key) {
  return once(bench, key, [](const store::BulkJob& job) { return job.counted; });
}

// Submits tasks and lets them fail.
std::vector<task::TaskKey> failed(EngineBench& bench, int count) {
  std::vector<task::TaskKey> keys;
  for (int i = 0; i < count; ++i) {
    keys.push_back(bench.submit(EngineBench::message("work " + std::to_string(i)))->key);
    bench.scripted().next()->sink->finish(agents::Failed{"broken"});
    REQUIRE(bench.wait(keys.back()));
  }
  return keys;
}

}  // namespace

TEST_CASE("BulkJobs: each task that the filter finds is acted on once and has its own result") {
  EngineBench bench;
  const auto keys = delayed(bench, 100);
  const auto key = bench.engine().bulk_jobs().create(request(BulkAction::cancel, 100, {.unfinished = true}));
  REQUIRE(key);
  const auto job = finished(bench, *key);
  CHECK(job.done == 100);
  CHECK(job.refused == 0);
  CHECK(job.tasks == 100);
  for (const task::TaskKey task : keys) CHECK(bench.engine().reader().head(task)->state == State::canceled);
  CHECK(bench.store().bulk_items(*key, {}, 1000, true)->empty());
  CHECK(bench.store().bulk_items(*key, {}, 1000, false)->size() == 100);
  CHECK(bench.store().audit({.action = "cancel"}, 0, 1000)->lines.size() == 100);
}

TEST_CASE("BulkJobs: if the count is not the expected one nothing begins, and the error has the count") {
  EngineBench bench;
  const auto keys = delayed(bench, 3);
  const auto more = bench.engine().bulk_jobs().create(request(BulkAction::cancel, 4));
  CHECK(more.error().code == ErrorCode::conflict);
  CHECK(more.error().for_caller == "the filter finds 3 tasks, not 4 as expected");
  const auto less = bench.engine().bulk_jobs().create(request(BulkAction::cancel, 2));
  CHECK(less.error().code == ErrorCode::conflict);
  CHECK(bench.engine().bulk_jobs().create(request(BulkAction::cancel, 0)).error().code ==
        ErrorCode::invalid_argument);
  CHECK(bench.store().bulk_jobs(10)->empty());
  CHECK(!bench.engine().reader().head(keys[0])->cancel_requested);
}

TEST_CASE("BulkJobs: skip gives up all waiting deliveries, and is refused if there are none") {
  EngineBench bench;
  delayed(bench, 1);
  auto submission = EngineBench::message("work");
  submission.start_at = base::SystemClock().now() + std::chrono::hours(1);
  submission.push.emplace();
  submission.push->url = "http://example.org/hook";
  submission.push->version = task::ProtocolVersion::v0_2;
  REQUIRE(bench.submit(std::move(submission)));
  const auto key = bench.engine().bulk_jobs().create(request(BulkAction::skip, 2));
  REQUIRE(key);
  const auto job = finished(bench, *key);
  CHECK(job.done == 1);
  CHECK(job.refused == 1);
}

TEST_CASE("BulkJobs: a refusal is in the item's result and does not stop the job") {
  EngineBench bench;
  const auto keys = delayed(bench, 2);
  REQUIRE(bench.cancel(bench.engine().reader().head(keys[0])->id));
  const auto key = bench.engine().bulk_jobs().create(request(BulkAction::cancel, 2));
  REQUIRE(key);
  const auto job = finished(bench, *key);
  CHECK(job.done == 1);
  CHECK(job.refused == 1);
  CHECK(bench.store().bulk_items(*key, {}, 10, false)->at(0).outcome == "not_cancelable");
}

TEST_CASE("BulkJobs: after a restart an interrupted job continues with the remaining tasks only") {
  EngineBench bench;
  const auto keys = delayed(bench, 4);
  // The rows that a program leaves if it is killed after one item.
  store::BulkJob left;
  left.key = {7};
  left.actor = "olga";
  left.action = "retry";
  left.reason = "a storm";
  left.tasks = 2;
  const auto write = [&](const store::OperatorWrite& what) { REQUIRE(bench.store().write(what)); };
  bench.engine().settle();
  write(left);
  write(store::BulkItems{{7}, {keys[0], keys[1]}});
  write(store::BulkState{{7}, store::BulkJob::State::running});
  task::AuditEntry entry{"olga", "retry", "a storm"};
  entry.task = keys[0];
  entry.job = {7};
  write(entry);
  left.key = {8};  // another job, whose tasks were not all stored
  write(left);
  REQUIRE(bench.store().commit());
  bench.restart();
  const auto job = finished(bench, {7});
  CHECK(job.done == 2);
  std::set<std::string> texts;
  const auto turn = bench.scripted().next();
  REQUIRE(turn);
  CHECK(task::text_of(turn->turn.message) == "work 1");
  turn->sink->finish(agents::Done{});
  CHECK(bench.scripted().waiting() == 0);
  CHECK(bench.store().bulk_job({8})->state == store::BulkJob::State::abandoned);
}

TEST_CASE("BulkJobs: a job that a node was recording is abandoned once that node is gone, and no sooner") {
  using JobState = store::BulkJob::State;
  const auto node = [](store::NodeId id) {
    store::Node made;
    made.id = id;
    return made;
  };
  test::FakePeers peers;
  peers.set_nodes(std::vector{node(test::FakePeers::kSelf), node(test::FakePeers::kOther)});
  EngineBench::Options options;
  options.wiring.peers = &peers;
  EngineBench bench(options);
  bench.engine().settle();
  const std::vector<store::NodeId> recorded_by{{}, test::FakePeers::kSelf, test::FakePeers::kOther};
  for (std::size_t i = 0; i < recorded_by.size(); ++i) {
    store::BulkJob job;
    job.key = {static_cast<std::int64_t>(i) + 1};
    job.actor = "olga";
    job.action = "cancel";
    job.reason = "a storm";
    job.node = recorded_by[i];
    REQUIRE(bench.store().write(job));
  }
  REQUIRE(bench.store().commit());
  bench.restart();
  const auto state = [&](std::int64_t key) { return bench.store().bulk_job({key})->state; };
  const auto abandoned = [](const store::BulkJob& job) { return job.state == JobState::abandoned; };
  CHECK(state(3) == JobState::preparing);
  peers.set_nodes(std::vector{node(test::FakePeers::kSelf)});
  CHECK(once(bench, {3}, abandoned).key.value == 3);
  CHECK(state(1) == JobState::preparing);  // an earlier version did not say which node
  peers.alone = true;
  CHECK(once(bench, {1}, abandoned).key.value == 1);
  CHECK(state(2) == JobState::preparing);
}

TEST_CASE("BulkJobs: a node that does not lead begins no more jobs at once than the leader may run") {
  test::FakePeers peers;
  peers.leading = false;
  EngineBench::Options options;
  options.wiring.peers = &peers;
  EngineBench bench(options);
  delayed(bench, 1);
  const auto begin = [&] { return bench.engine().bulk_jobs().create(request(BulkAction::cancel, 1)); };
  for (int i = 0; i < engine::BulkJobs::kJobsMax; ++i) REQUIRE(begin());
  CHECK(begin().error().code == ErrorCode::overloaded);
}

TEST_CASE("BulkJobs: a job whose node counted its tasks and left just now still waits for confirmation") {
  const auto node = [](store::NodeId id) {
    store::Node made;
    made.id = id;
    return made;
  };
  test::FakePeers peers;
  peers.set_nodes(std::vector{node(test::FakePeers::kSelf), node(test::FakePeers::kOther)});
  // Called once the jobs have been read.
  std::atomic<bool> counts{false};
  std::function<void()> count;
  peers.before_nodes = [&] {
    if (counts.exchange(false)) count();
  };
  EngineBench::Options options;
  options.wiring.peers = &peers;
  EngineBench bench(options);
  bench.engine().settle();
  const auto write = [&](const store::OperatorWrite& what) {
    return bench.store().write(what) && bench.store().commit();
  };
  for (const std::int64_t key : {1, 2, 3}) {
    store::BulkJob job;
    job.key = {key};
    job.actor = "olga";
    job.action = "cancel";
    job.reason = "a storm";
    job.node = test::FakePeers::kOther;
    REQUIRE(write(job));
  }
  count = [&] {
    write(store::BulkCount{{2}, 5, true});
    peers.set_nodes(std::vector{node(test::FakePeers::kSelf)});
  };
  counts = true;
  for (const std::int64_t key : {1, 3}) {
    CHECK(once(bench, {key}, [](const store::BulkJob& job) {
            return job.state == store::BulkJob::State::abandoned;
          }).key.value == key);
  }
  CHECK(bench.store().bulk_job({2})->state == store::BulkJob::State::preparing);
  CHECK(bench.store().bulk_job({2})->counted);
}

TEST_CASE("BulkJobs: a job whose tasks cannot be written down is abandoned at once") {
  std::atomic<int> groups_left{0};
  EngineBench::Options options;
  options.faults.group = [&](int) {
    store::GroupFaults faults;
    faults.commit_fails = --groups_left == 0;
    return faults;
  };
  EngineBench bench(options);
  delayed(bench, 1);
  groups_left = 2;  // the group of the job, and that of its tasks
  CHECK_FALSE(bench.engine().bulk_jobs().create(request(BulkAction::cancel, 1)));
  const auto jobs = bench.store().bulk_jobs(10);
  REQUIRE(jobs->size() == 1);
  CHECK(jobs->front().state == store::BulkJob::State::abandoned);
}

TEST_CASE("BulkJobs: delete removes ended tasks and refuses others, with an outcome for each task") {
  EngineBench bench(EngineBench::with_retention());
  std::vector<task::TaskKey> ended;
  for (int i = 0; i < 3; ++i) {
    ended.push_back(bench.submit(EngineBench::message("work"))->key);
    bench.scripted().next()->sink->finish(agents::Done{});
    REQUIRE(bench.wait(ended.back()));
  }
  const auto waits = delayed(bench, 1).front();
  const auto key = bench.engine().bulk_jobs().create(request(BulkAction::erase, 4));
  REQUIRE(key);
  const auto job = finished(bench, *key);
  CHECK(job.action == "delete");
  CHECK(job.done == 3);
  CHECK(job.refused == 1);
  for (const task::TaskKey task : ended) CHECK(!bench.engine().reader().head(task));
  CHECK(bench.engine().reader().head(waits));
  const auto items = bench.store().bulk_items(*key, {}, 10, false);
  for (const store::BulkItem& item : *items)
    CHECK(item.outcome == (item.task == waits ? "conflict" : task::kDone));
  CHECK(bench.store().audit({.action = "delete"}, 0, 10)->lines.size() == 4);
}

TEST_CASE("BulkJobs: delete continues after a restart, and tasks already removed count as done") {
  EngineBench bench(EngineBench::with_retention());
  std::vector<task::TaskKey> keys;
  for (int i = 0; i < 2; ++i) {
    keys.push_back(bench.submit(EngineBench::message("work"))->key);
    bench.scripted().next()->sink->finish(agents::Done{});
    REQUIRE(bench.wait(keys.back()));
  }
  store::BulkJob left;
  left.key = {7};
  left.actor = "olga";
  left.action = "delete";
  left.reason = "a storm";
  left.tasks = 3;
  bench.engine().settle();
  REQUIRE(bench.store().write(left));
  REQUIRE(bench.store().write(store::BulkItems{{7}, {keys[0], keys[1], {4711}}}));
  REQUIRE(bench.store().write(store::BulkState{{7}, store::BulkJob::State::running}));
  REQUIRE(bench.store().commit());
  bench.restart();
  CHECK(finished(bench, {7}).done == 3);
  for (const task::TaskKey task : keys) CHECK(!bench.engine().reader().head(task));
  CHECK(bench.store().bulk_items({7}, {4710}, 10, false)->at(0).detail == "already deleted");
}

TEST_CASE("BulkJobs: without retention no delete job begins") {
  EngineBench bench;
  CHECK(bench.engine().bulk_jobs().create(request(BulkAction::erase, 1)).error().code ==
        ErrorCode::unsupported);
}

TEST_CASE("BulkJobs: items that find the queue full are retried until there is room") {
  EngineBench::Options options;
  options.engine.queue_max = 1;
  options.engine.slots = 1;
  EngineBench bench(options);
  failed(bench, 4);
  const auto key =
      bench.engine().bulk_jobs().create(request(BulkAction::retry, 4, {.states = {State::failed}}));
  REQUIRE(key);
  for (int i = 0; i < 4; ++i) {
    const auto turn = bench.scripted().next();
    REQUIRE(turn);
    turn->sink->finish(agents::Done{});
  }
  CHECK(finished(bench, *key).done == 4);
}

TEST_CASE("BulkJobs: an item that fails for good is refused once, and the job ends") {
  std::atomic<int> groups_left{0};
  EngineBench::Options options;
  options.faults.group = [&](int) {
    store::GroupFaults faults;
    faults.failure = ErrorCode::internal;
    if (--groups_left == 0) faults.applied_max = 0;
    return faults;
  };
  EngineBench bench(options);
  const auto task = delayed(bench, 1).front();
  auto& jobs = bench.engine().bulk_jobs();
  const auto key = jobs.create(request(BulkAction::cancel, {}, {.unfinished = true}));
  REQUIRE(key);
  CHECK(counted(bench, *key).tasks == 1);
  groups_left = 2;  // the group that begins the job, and the one that would cancel the task
  REQUIRE(jobs.confirm(*key, 1, "olga"));
  const auto job = finished(bench, *key);
  CHECK(job.done == 0);
  CHECK(job.refused == 1);
  CHECK(bench.store().bulk_items(*key, {}, 10, false)->at(0).outcome == "internal");
  CHECK(bench.store().audit({.action = "cancel"}, 0, 10)->lines.size() == 1);
  CHECK(bench.engine().reader().head(task)->state != State::canceled);
}

TEST_CASE("BulkJobs: without an expected count the tasks are stored, counted, and acted on once confirmed") {
  EngineBench bench;
  const auto keys = delayed(bench, 1'100);  // more than a page
  auto& jobs = bench.engine().bulk_jobs();
  const auto key = jobs.create(request(BulkAction::cancel, {}, {.unfinished = true}));
  REQUIRE(key);
  const auto job = counted(bench, *key);
  CHECK(job.tasks == 1'100);
  CHECK(job.state == store::BulkJob::State::preparing);
  delayed(bench, 1);  // comes too late
  CHECK(!bench.engine().reader().head(keys[0])->cancel_requested);
  CHECK(jobs.confirm(*key, 1'101, "olga").error().for_caller == "the job has 1100 tasks, not 1101");
  CHECK(jobs.confirm(*key, 1'100, "otto").error().code == ErrorCode::conflict);
  SUBCASE("also after a restart") {
    bench.restart();
  }
  SUBCASE("at once") {}
  REQUIRE(bench.engine().bulk_jobs().confirm(*key, 1'100, "olga"));
  CHECK(finished(bench, *key).done == 1'100);
  CHECK(bench.engine().bulk_jobs().confirm(*key, 1'100, "olga").error().code == ErrorCode::conflict);
  CHECK(bench.engine().bulk_jobs().abandon(*key).error().code == ErrorCode::conflict);
}

TEST_CASE("BulkJobs: a counted job can be abandoned, and the oldest is if too many wait") {
  EngineBench bench;
  const auto keys = delayed(bench, 1);
  std::vector<task::BulkJobKey> made;
  for (int i = 0; i <= engine::BulkJobs::kUnconfirmed; ++i) {
    const auto key = bench.engine().bulk_jobs().create(request(BulkAction::cancel, {}));
    REQUIRE(key);
    CHECK(counted(bench, *key).tasks == 1);
    made.push_back(*key);
    // The job's place among those being counted is released a moment later.
    while (i < engine::BulkJobs::kUnconfirmed && bench.engine().bulk_jobs().at_work() > 0)
      std::this_thread::yield();
  }
  CHECK(bench.store().bulk_job(made.front())->state == store::BulkJob::State::abandoned);
  REQUIRE(bench.engine().bulk_jobs().abandon(made.back()));
  CHECK(bench.engine().bulk_jobs().confirm(made.back(), 1, "olga").error().code == ErrorCode::conflict);
  CHECK(!bench.engine().reader().head(keys[0])->cancel_requested);
}

TEST_CASE("BulkJobs: if the filter finds no task the job is finished without a confirmation") {
  EngineBench bench;
  const auto key = bench.engine().bulk_jobs().create(request(BulkAction::cancel, {}));
  REQUIRE(key);
  CHECK(finished(bench, *key).tasks == 0);
}

TEST_CASE("BulkJobs: a retry leaves out tasks that were already retried") {
  EngineBench bench;
  const auto keys = failed(bench, 2);
  const store::TaskFilter filter{.states = {State::failed}};
  const auto retry_both = [&](std::int64_t expected) {
    return bench.engine().bulk_jobs().create(request(BulkAction::retry, expected, filter));
  };
  const auto late = bench.engine().bulk_jobs().create(request(BulkAction::retry, {}, filter));
  REQUIRE(late);
  CHECK(counted(bench, *late).tasks == 2);
  const auto first = retry_both(2);
  REQUIRE(first);
  CHECK(finished(bench, *first).done == 2);
  for (int i = 0; i < 2; ++i) bench.scripted().next()->sink->finish(agents::Done{});
  const auto again = retry_both(2);
  REQUIRE(!again);
  CHECK(again.error().for_caller == "the filter finds 0 tasks, not 2 as expected");
  // The tasks of the earlier count are checked again.
  REQUIRE(bench.engine().bulk_jobs().confirm(*late, 2, "olga"));
  CHECK(finished(bench, *late).refused == 2);
  CHECK(bench.scripted().waiting() == 0);
  for (const task::TaskKey key : keys) CHECK(bench.store().line(key)->retried_as);
}

}  // namespace bulk_jobs_test
