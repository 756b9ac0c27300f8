// The store behind the inbox, with every group flushed to the disk: sequential and concurrent changes, the
// 10,000th chunk compared with the first, and reading.
#include <benchmark/benchmark.h>

#include <atomic>
#include <functional>
#include <future>

#include "base/clock.h"
#include "base/id.h"
#include "engine/decide/inbox.h"
#include "micro/things.h"
#include "store/sqlite/sqlite_store.h"

namespace baton::bench {
namespace {

using base::Result;
using engine::Written;
using task::Change;

// A store whose commits are flushed by the committing thread. Only for an inbox, which reads only rows.
class FlushedCommits final : public store::TaskStore {
 public:
  explicit FlushedCommits(store::SqliteStore& store) : store_(store) {}

  Result<store::Committed> apply(Change& change, store::TaskRow& row) override {
    return store_.apply(change, row);
  }
  Result<void> commit() override {
    auto committed = store_.commit();
    return committed ? store_.flush() : committed;
  }
  Result<void> flush() override { return {}; }
  Result<store::TaskRow> row(task::TaskKey key) const override { return store_.row(key); }

  Result<task::TaskHead> find(const task::TaskRef&) const override { abort(); }
  Result<task::Task> read(task::TaskKey, const task::Depth&,
                          std::optional<task::EventNumber>) const override {
    abort();
  }
  Result<std::vector<task::Event>> events(task::TaskKey, task::EventNumber, int) const override { abort(); }
  Result<store::TurnInput> turn_input(task::TaskKey, task::EventNumber) const override { abort(); }
  Result<store::ContextRecord> context(task::ContextKey, task::TaskKey, task::EventNumber,
                                       int) const override {
    abort();
  }
  Result<std::optional<store::Stop>> stop_after(task::TaskKey, task::EventNumber) const override { abort(); }
  Result<task::EventNumber> stop_before(task::TaskKey, task::EventNumber) const override { abort(); }
  Result<store::EarlierSend> earlier_send(const task::SendDigest&) const override { abort(); }
  Result<store::ListPage> list(const task::ListFilter&) const override { abort(); }
  Result<void> entitle(const task::ContextRef&, const std::string&) override { abort(); }
  Result<store::Opening> opening(const task::ContextRef&) const override { abort(); }
  Result<std::vector<task::TaskHead>> open_tasks(Open, task::TaskKey, int) const override { abort(); }

 private:
  store::SqliteStore& store_;
};

class OpenStore {
 public:
  explicit OpenStore(bool flushes_with_commit = false)
      : store_(open(folder_.file("bench.db"), clock_)),
        flushing_(*store_),
        inbox_(flushes_with_commit ? static_cast<store::TaskStore&>(flushing_) : *store_, *store_, live_, {},
               [] {}) {}

  store::SqliteStore* operator->() { return store_.get(); }

  void post(Change change, std::function<void(Written)> done) {
    engine::Decision decision;
    decision.task = change.task;
    decision.decide = [change = std::move(change)](const auto&) { return change; };
    decision.done = [done = std::move(done)](Result<Written> result) {
      if (!result) abort();
      done(std::move(*result));
    };
    inbox_.post(std::move(decision));
  }
  std::future<Written> commit(Change change) {
    auto promise = std::make_shared<std::promise<Written>>();
    post(std::move(change), [promise](Written written) { promise->set_value(std::move(written)); });
    return promise->get_future();
  }
  // Creates a new task each time one has been stored.
  void keep_creating(std::atomic<std::int64_t>& left) {
    post(creation(), [&](const Written&) {
      if (--left > 0) keep_creating(left);
    });
  }
  void settle() { inbox_.settle(); }

  task::TaskHead new_task() { return commit(creation()).get().head; }

  Change creation() {
    Change change;
    change.create.emplace();
    change.create->id = {base::make_uuid()};
    change.create->agent = {"echo"};
    change.create->caller = task::kAnonymous;
    change.create->context = {base::make_uuid()};
    change.events.push_back(task::MessageAdded{message_of(task::Role::user)});
    change.events.push_back(status_of(task::State::submitted));
    return change;
  }

 private:
  static std::unique_ptr<store::SqliteStore> open(const std::string& path, const base::Clock& clock) {
    store::SqliteOptions options;
    options.path = path;
    auto opened = store::SqliteStore::open(options, clock);
    if (!opened) abort();
    return std::move(*opened);
  }

  WorkFolder folder_;
  base::SystemClock clock_;
  std::unique_ptr<store::SqliteStore> store_;
  FlushedCommits flushing_;
  engine::LiveTasks live_;
  engine::Inbox inbox_;
};

Change chunk_change(const task::TaskHead& head, bool append) {
  Change change;
  change.task = head.key;
  change.events.push_back(chunk_of(append, false));
  return change;
}

// Creates tasks with as many changes in flight as the argument says, in batches.
void create_tasks(benchmark::State& state) {
  OpenStore store;
  std::vector<std::future<Written>> under_way;
  for (auto _ : state) {
    for (std::int64_t i = 0; i < state.range(0); ++i) under_way.push_back(store.commit(store.creation()));
    for (auto& change : under_way) change.get();
    under_way.clear();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

// Keeps that number of changes in flight all the time.
void keep_creating(benchmark::State& state, bool flushes_with_commit) {
  constexpr std::int64_t kEach = 100;
  OpenStore store(flushes_with_commit);
  for (auto _ : state) {
    std::atomic<std::int64_t> left = (kEach - 1) * state.range(0) + 1;
    for (std::int64_t i = 0; i < state.range(0); ++i) store.keep_creating(left);
    store.settle();
  }
  state.SetItemsProcessed(state.iterations() * kEach * state.range(0));
}

// Appends a chunk to an artifact that already has as many chunks as the argument says.
void append_chunk(benchmark::State& state) {
  OpenStore store;
  const task::TaskHead head = store.new_task();
  std::vector<std::future<Written>> under_way;
  for (std::int64_t i = 0; i <= state.range(0); ++i) {
    under_way.push_back(store.commit(chunk_change(head, i > 0)));
  }
  for (auto& change : under_way) change.get();
  for (auto _ : state) store.commit(chunk_change(head, true)).get();
}

void read_head(benchmark::State& state) {
  OpenStore store;
  const task::TaskHead head = store.new_task();
  const task::TaskRef ref{head.caller, head.agent, head.id};
  for (auto _ : state) benchmark::DoNotOptimize(store->find(ref));
}

void read_task(benchmark::State& state) {
  OpenStore store;
  const task::TaskHead head = store.new_task();
  store.commit(chunk_change(head, false)).get();
  for (auto _ : state) benchmark::DoNotOptimize(store->read(head.key, {}));
}

void read_events(benchmark::State& state) {
  OpenStore store;
  const task::TaskHead head = store.new_task();
  for (int i = 0; i < 100; ++i) store.commit(chunk_change(head, i > 0)).get();
  for (auto _ : state) benchmark::DoNotOptimize(store->events(head.key, {}, 100));
  state.SetItemsProcessed(state.iterations() * 100);
}

// These measure real time, because they wait for the disk.
BENCHMARK(create_tasks)->Arg(1)->Arg(16)->Arg(64)->Arg(256)->UseRealTime();
BENCHMARK_CAPTURE(keep_creating, as_shipped, false)->Arg(1)->Arg(16)->Arg(64)->Arg(256)->UseRealTime();
BENCHMARK_CAPTURE(keep_creating, flushed_with_commit, true)
    ->Arg(1)
    ->Arg(16)
    ->Arg(64)
    ->Arg(256)
    ->UseRealTime();
BENCHMARK(append_chunk)->Arg(0)->Arg(10'000)->Iterations(500)->UseRealTime();
BENCHMARK(read_head);
BENCHMARK(read_task);
BENCHMARK(read_events);

}  // namespace
}  // namespace baton::bench
