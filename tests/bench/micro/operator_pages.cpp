// Pages of operators' lists over a database of 1,000,000 tasks of ten agents and a hundred callers. 99 of 100
// tasks are completed, the rest are in other states. `p99_ms` is for pages at random positions.
#include <benchmark/benchmark.h>
#include <sqlite3.h>

#include <algorithm>
#include <random>

#include "base/clock.h"
#include "micro/things.h"
#include "store/sqlite/sqlite_store.h"

namespace baton::bench {
namespace {

constexpr int kAll = 1'000'000;
constexpr int kPages = 300;
constexpr std::int64_t kBeginMs = 1'700'000'000'000;

// Writes to the database directly, because the store would take a minute. Task `i` has its status at kBeginMs
// + i.
constexpr char kFill[] = R"sql(
BEGIN;
CREATE TEMP TABLE n AS WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 1000000)
  SELECT i, (i * 7919) % 1024 AS h FROM r;
INSERT INTO tasks (task_key, agent, caller, public_id, context_key, origin, created_ms, version, state, status_event,
  last_event, turn, turn_state, attempt, turn_message, turn_begin, awaited, waiting_messages, cancel_requested, ask,
  artifact_count, message_count, status_ms, indexed, bytes, hidden)
SELECT i,
  'agent' || CASE WHEN h < 512 THEN 0 WHEN h < 768 THEN 1 WHEN h < 896 THEN 2 WHEN h < 1000 THEN 3 ELSE 4 END,
  CASE WHEN i % 50000 = 3 THEN 'rare' ELSE 'caller' || ((i * 104729) % 100) END,
  printf('%08x-7d9a-7c41-9d3e-0123456789ab', i), 0, 3, 1700000000000 + i, 4,
  CASE WHEN i % 10000 = 5 THEN 'working' WHEN i % 100 <> 99 THEN 'completed'
    ELSE substr('failed  canceledrejected', 1 + 8 * (i / 100 % 3), 8) END,
  4, 4, 1, iif(i % 10000 = 5, 'running', 'none'), iif(i % 1000 = 7, 2, 1), 2, 2, 0, 0, 0, '', 1, 2,
  1700000000000 + i, 0, 600, 0
FROM n;
UPDATE tasks SET state = 'failed' WHERE state = 'failed  ';
INSERT INTO events (event_key, kind, at_ms, body)
SELECT i * 268435456 + 4, 1, 1700000000000 + i, iif(i % 100 <> 99, '{"s":"completed","at":1700000000000}',
  '{"s":"failed","at":1700000000000,"m":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"Hello, world"}]}}')
FROM n;
INSERT INTO task_totals SELECT agent, caller, state, count(*) FROM tasks WHERE turn_state = 'none' GROUP BY 1, 2, 3;
COMMIT;
)sql";

class FullStore {
 public:
  FullStore() {
    open();
    store_.reset();
    sqlite3* database = nullptr;
    if (sqlite3_open(path_.c_str(), &database) != SQLITE_OK) abort();
    if (sqlite3_exec(database, kFill, nullptr, nullptr, nullptr) != SQLITE_OK) abort();
    sqlite3_close(database);
    open();
  }

  store::TaskPage page(const store::TaskQuery& query) const {
    auto page = store_->page(query);
    if (!page) abort();
    return std::move(*page);
  }

 private:
  void open() {
    store::SqliteOptions options;
    options.path = path_;
    auto opened = store::SqliteStore::open(options, clock_);
    if (!opened) abort();
    store_ = std::move(*opened);
  }

  base::SystemClock clock_;
  WorkFolder folder_;
  const std::string path_ = folder_.file("bench.db");
  std::unique_ptr<store::SqliteStore> store_;
};

void read_pages(benchmark::State& state, const store::TaskFilter& filter, bool oldest_first = false) {
  static const FullStore store;
  std::mt19937_64 random(11);
  std::vector<double> times;
  double lines = 0, cut = 0;
  for (auto _ : state) {
    store::TaskQuery query;
    query.filter = filter;
    query.oldest_first = oldest_first;
    if (!times.empty() && times.size() % 2 == 0)
      query.after =
          store::TaskPlace{base::from_ms(kBeginMs + static_cast<std::int64_t>(random() % kAll)), {1}};
    const auto began = std::chrono::steady_clock::now();
    const store::TaskPage page = store.page(query);
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count());
    lines += static_cast<double>(page.lines.size());
    cut += page.is_cut ? 1 : 0;
  }
  std::ranges::sort(times);
  state.counters["p50_ms"] = times[times.size() / 2];
  state.counters["p99_ms"] = times[times.size() * 99 / 100];
  state.counters["lines"] = lines / static_cast<double>(times.size());
  state.counters["cut"] = cut / static_cast<double>(times.size());
}

using task::State;
BENCHMARK_CAPTURE(read_pages, all, store::TaskFilter{})->Iterations(kPages);
BENCHMARK_CAPTURE(read_pages, all_oldest_first, store::TaskFilter{}, true)->Iterations(kPages);
BENCHMARK_CAPTURE(read_pages, unfinished, store::TaskFilter{.unfinished = true})->Iterations(kPages);
BENCHMARK_CAPTURE(read_pages, failed, store::TaskFilter{.states = {State::failed}})->Iterations(kPages);
BENCHMARK_CAPTURE(read_pages, completed, store::TaskFilter{.states = {State::completed}})->Iterations(kPages);
BENCHMARK_CAPTURE(read_pages, agent, store::TaskFilter{.agent = {"agent0"}})->Iterations(kPages);
BENCHMARK_CAPTURE(read_pages, rare_agent, store::TaskFilter{.agent = {"agent4"}})->Iterations(kPages);
BENCHMARK_CAPTURE(read_pages, caller, store::TaskFilter{.caller = {"caller3"}})->Iterations(kPages);
BENCHMARK_CAPTURE(read_pages, rare_caller, store::TaskFilter{.caller = {"rare"}})->Iterations(kPages);
BENCHMARK_CAPTURE(read_pages, failed_of_caller,
                  store::TaskFilter{.states = {State::failed}, .caller = {"caller40"}})
    ->Iterations(kPages);
BENCHMARK_CAPTURE(read_pages, context, store::TaskFilter{.context = {"019a5f0e-7d9a-8c41-9d3e-0123456789ab"}})
    ->Iterations(kPages);
BENCHMARK_CAPTURE(read_pages, parent, store::TaskFilter{.parent = {77}})->Iterations(kPages);
BENCHMARK_CAPTURE(read_pages, schedule, store::TaskFilter{.schedule = "nightly"})->Iterations(kPages);
BENCHMARK_CAPTURE(read_pages, undelivered, store::TaskFilter{.undelivered = true})->Iterations(kPages);
BENCHMARK_CAPTURE(read_pages, attempts, store::TaskFilter{.attempts_min = 2})->Iterations(kPages);
BENCHMARK_CAPTURE(read_pages, words_that_nobody_said, store::TaskFilter{.error = "no such words"})
    ->Iterations(kPages);
BENCHMARK_CAPTURE(read_pages, words_of_failed, store::TaskFilter{.states = {State::failed}, .error = "hello"})
    ->Iterations(kPages);

}  // namespace
}  // namespace baton::bench
