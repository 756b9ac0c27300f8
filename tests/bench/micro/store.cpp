// The store, with every commit flushed to the disk: changes one after the other and many at a time, the
// 10,000th chunk against the first, and reading.
#include <benchmark/benchmark.h>

#include <future>

#include "base/clock.h"
#include "micro/things.h"
#include "store/sqlite/sqlite_store.h"

namespace baton::bench {
namespace {

using store::Committed;
using task::Change;

class OpenStore {
 public:
  OpenStore() {
    store::SqliteOptions options;
    options.path = folder_.file("bench.db");
    auto opened = store::SqliteStore::open(options, clock_);
    if (!opened) abort();
    store_ = std::move(*opened);
  }

  store::SqliteStore& operator*() { return *store_; }
  store::SqliteStore* operator->() { return store_.get(); }

  std::future<Committed> commit(Change change) {
    auto promise = std::make_shared<std::promise<Committed>>();
    auto future = promise->get_future();
    store_->commit(std::move(change), [promise](base::Result<Committed> result) {
      if (!result) abort();
      promise->set_value(std::move(*result));
    });
    return future;
  }

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
  WorkFolder folder_;
  base::SystemClock clock_;
  std::unique_ptr<store::SqliteStore> store_;
};

Change chunk_change(const task::TaskHead& head, bool append) {
  Change change;
  change.task = head.key;
  change.events.push_back(chunk_of(append, false));
  return change;
}

// As many changes under way as the argument says.
void create_tasks(benchmark::State& state) {
  OpenStore store;
  std::vector<std::future<Committed>> under_way;
  for (auto _ : state) {
    for (std::int64_t i = 0; i < state.range(0); ++i) under_way.push_back(store.commit(store.creation()));
    for (auto& change : under_way) change.get();
    under_way.clear();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

// To an artifact that has so many chunks already.
void append_chunk(benchmark::State& state) {
  OpenStore store;
  const task::TaskHead head = store.new_task();
  std::vector<std::future<Committed>> under_way;
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
  for (auto _ : state) benchmark::DoNotOptimize(store->head(ref));
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

// Their time is the disk's, not the processor's.
BENCHMARK(create_tasks)->Arg(1)->Arg(16)->Arg(64)->Arg(256)->UseRealTime();
BENCHMARK(append_chunk)->Arg(0)->Arg(10'000)->Iterations(500)->UseRealTime();
BENCHMARK(read_head);
BENCHMARK(read_task);
BENCHMARK(read_events);

}  // namespace
}  // namespace baton::bench
