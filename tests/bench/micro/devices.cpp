// The gain of each optimisation in the SQLite store: one thread stores echo tasks, with one optimisation at a
// time switched off. An iteration stores 64 tasks. Only checkpoints are flushed.
#include <benchmark/benchmark.h>
#include <sqlite3.h>

#include <array>
#include <filesystem>
#include <random>

#include "base/clock.h"
#include "base/id.h"
#include "micro/things.h"
#include "store/own_context.h"
#include "store/sqlite/sqlite_store.h"

namespace baton::bench {
namespace {

constexpr int kTogether = 64;
constexpr int kTasks = 100'000;

enum class Without { nothing, short_logs, own_contexts, send_slices, auto_vacuum, operators_order };

class EchoStore {
 public:
  explicit EchoStore(Without without) : without_(without) {
    if (without == Without::auto_vacuum)
      run_sql("CREATE TABLE x (y); DROP TABLE x");  // a database with tables keeps its auto_vacuum mode
    open();
    if (without == Without::operators_order) {
      store_.reset();
      run_sql("DROP INDEX tasks_by_time");
      open();
    }
    if (without != Without::send_slices) return;
    store_.reset();
    run_sql("CREATE INDEX sends_by_digest ON sends (digest_high)");
    open();
  }

  void store_echoes() {
    std::array<store::TaskRow, kTogether> rows;
    for (store::TaskRow& row : rows) apply(creation(), row);
    commit();
    for (store::TaskRow& row : rows) apply(answer(row.head), row);
    commit();
  }

  // Closes the store, and returns the size of the file.
  double bytes() {
    store_.reset();
    return static_cast<double>(std::filesystem::file_size(path_));
  }

 private:
  void run_sql(const char* sql) {
    sqlite3* database = nullptr;
    if (sqlite3_open(path_.c_str(), &database) != SQLITE_OK) abort();
    if (sqlite3_exec(database, sql, nullptr, nullptr, nullptr) != SQLITE_OK) abort();
    sqlite3_close(database);
  }

  void open() {
    store::SqliteOptions options;
    options.path = path_;
    if (without_ == Without::short_logs) options.short_events_max = 0;
    if (without_ == Without::send_slices) options.send_slice_max = 262'144;  // more than there are
    auto opened = store::SqliteStore::open(options, clock_);
    if (!opened) abort();
    store_ = std::move(*opened);
  }

  void apply(task::Change change, store::TaskRow& row) {
    if (!store_->apply(change, row)) abort();
  }
  void commit() {
    if (!store_->commit()) abort();
  }

  task::Change creation() {
    task::Change change;
    change.create.emplace();
    change.create->id = {base::make_uuid()};
    change.create->agent = {"echo"};
    change.create->caller = task::kAnonymous;
    change.create->fresh_id = change.create->fresh_context = true;
    change.create->context = without_ == Without::own_contexts ? task::ContextId{base::make_uuid()}
                                                               : store::own_context(change.create->id);
    change.events.push_back(status_of(task::State::submitted));
    change.events.push_back(task::MessageAdded{message_of(task::Role::user)});
    change.events.push_back(status_of(task::State::working));
    change.turn.emplace();
    change.turn->turn = task::TurnNumber{1};
    change.turn->state = task::TurnState::running;
    change.turn->attempt = 1;
    change.turn->message_is_new = true;
    change.send = task::SendDigest{random_(), random_()};
    return change;
  }
  static task::Change answer(const task::TaskHead& head) {
    task::Change change;
    change.task = head.key;
    change.events.push_back(chunk_of(false, true));
    change.events.push_back(status_of(task::State::completed));
    change.turn.emplace();
    change.turn->state = task::TurnState::none;
    return change;
  }

  const Without without_;
  WorkFolder folder_;
  const std::string path_ = folder_.file("bench.db");
  base::SystemClock clock_;
  std::mt19937_64 random_{7};
  std::unique_ptr<store::SqliteStore> store_;
};

void store_echoes(benchmark::State& state, Without without) {
  EchoStore store(without);
  for (auto _ : state) store.store_echoes();
  const auto tasks = static_cast<double>(state.iterations() * kTogether);
  state.SetItemsProcessed(static_cast<std::int64_t>(tasks));
  state.counters["bytes_a_task"] = store.bytes() / tasks;
  state.counters["cpu_a_task"] =
      benchmark::Counter(tasks, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

BENCHMARK_CAPTURE(store_echoes, as_shipped, Without::nothing)->Iterations(kTasks / kTogether);
BENCHMARK_CAPTURE(store_echoes, without_short_logs, Without::short_logs)->Iterations(kTasks / kTogether);
BENCHMARK_CAPTURE(store_echoes, without_own_contexts, Without::own_contexts)->Iterations(kTasks / kTogether);
BENCHMARK_CAPTURE(store_echoes, without_send_slices, Without::send_slices)->Iterations(kTasks / kTogether);
BENCHMARK_CAPTURE(store_echoes, without_operators_order, Without::operators_order)
    ->Iterations(kTasks / kTogether);
BENCHMARK_CAPTURE(store_echoes, without_auto_vacuum, Without::auto_vacuum)->Iterations(kTasks / kTogether);

}  // namespace
}  // namespace baton::bench
