// Pages of operators' lists over a database of 1,000,000 tasks: 99 of 100 completed, of ten agents and a
// hundred callers, the rest in other states. `p99_ms` is of pages from random places.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <random>

#include "base/clock.h"
#include "base/id.h"
#include "micro/things.h"
#include "store/own_context.h"
#include "store/sqlite/sqlite_store.h"

namespace baton::bench {
namespace {

constexpr int kAll = 1'000'000;
constexpr int kInGroup = 500;
constexpr int kPages = 300;
constexpr std::int64_t kBeginMs = 1'700'000'000'000;

// One task in 100 ends like this.
constexpr std::array kOddStates{task::State::failed, task::State::canceled, task::State::input_required,
                                task::State::rejected};

class FullStore {
 public:
  FullStore() {
    store::SqliteOptions options;
    options.path = folder_.file("bench.db");
    auto opened = store::SqliteStore::open(options, clock_);
    if (!opened) abort();
    store_ = std::move(*opened);
    for (int made = 0; made < kAll; made += kInGroup) fill(made);
  }

  store::TaskPage page(const store::TaskQuery& query) const {
    auto page = store_->page(query);
    if (!page) abort();
    return std::move(*page);
  }

 private:
  void fill(int first) {
    std::vector<store::TaskRow> rows(kInGroup);
    for (int i = 0; i < kInGroup; ++i) apply(creation(first + i), rows[static_cast<std::size_t>(i)]);
    for (int i = 0; i < kInGroup; ++i)
      apply(ending(first + i, rows[static_cast<std::size_t>(i)].head), rows[static_cast<std::size_t>(i)]);
    if (!store_->commit()) abort();
  }
  void apply(task::Change change, store::TaskRow& row) {
    if (!store_->apply(change, row)) abort();
  }

  // The higher the number of an agent or caller, the fewer tasks it has.
  int skewed(int count) {
    return std::min(count - 1, static_cast<int>(std::exponential_distribution<>(8.0 / count)(random_)));
  }

  task::Change creation(int number) {
    task::Change change;
    task::NewTask& task = change.create.emplace();
    task.id = {base::make_uuid()};
    task.agent = {"agent" + std::to_string(skewed(10))};
    task.caller = {"caller" + std::to_string(skewed(100))};
    task.fresh_id = task.fresh_context = true;
    task.context = store::own_context(task.id);
    task::StatusChanged submitted = status_of(task::State::submitted);
    submitted.status.at = base::from_ms(kBeginMs + number);
    change.events.push_back(std::move(submitted));
    change.events.push_back(task::MessageAdded{message_of(task::Role::user)});
    change.turn.emplace();
    change.turn->turn = task::TurnNumber{1};
    change.turn->state = task::TurnState::running;
    change.turn->attempt = number % 1'000 == 7 ? 2 : 1;
    change.turn->message_is_new = true;
    return change;
  }

  static task::Change ending(int number, const task::TaskHead& head) {
    const bool is_odd = number % 100 == 99;
    task::StatusChanged status =
        status_of(is_odd ? kOddStates[static_cast<std::size_t>(number / 100 % 4)] : task::State::completed);
    status.status.at = base::from_ms(kBeginMs + number);
    if (is_odd) status.status.message = message_of(task::Role::agent);
    task::Change change;
    change.task = head.key;
    change.events.push_back(chunk_of(false, true));
    change.events.push_back(std::move(status));
    change.turn.emplace();
    change.turn->state = task::TurnState::none;
    if (number % 10'000 == 5) change.turn->state = task::TurnState::running;  // a hundred are at work
    if (number % 10'000 == 5) change.events.pop_back();
    return change;
  }

  base::SystemClock clock_;
  WorkFolder folder_;
  std::mt19937_64 random_{7};
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
BENCHMARK_CAPTURE(read_pages, rare_agent, store::TaskFilter{.agent = {"agent9"}})->Iterations(kPages);
BENCHMARK_CAPTURE(read_pages, caller, store::TaskFilter{.caller = {"caller3"}})->Iterations(kPages);
BENCHMARK_CAPTURE(read_pages, rare_caller, store::TaskFilter{.caller = {"caller80"}})->Iterations(kPages);
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
