// Tasks that agents' cards schedule, with a clock that the test moves.
#include <doctest/doctest.h>

#include <algorithm>
#include <future>
#include <thread>

#include "engine/engine.h"
#include "store/memory/memory_store.h"
#include "support/manual_clock.h"
#include "support/patience.h"
#include "support/scripted_executor.h"

namespace schedules_test {

using namespace baton;
using Missed = agents::Schedule::Missed;

namespace {

constexpr base::Duration kMinute = std::chrono::minutes(1), kHour = std::chrono::hours(1);

agents::Schedule schedule(const std::string& cron, Missed missed, const std::string& name = "s1") {
  return {name, *base::Cron::parse(cron), *base::TimeZone::load("UTC"), {"ann"}, "report", missed, cron,
          "UTC"};
}

// An engine on a memory store. Calling `start` again is a restart.
struct Bench {
  explicit Bench(std::vector<agents::Schedule> schedules) : schedules_(std::move(schedules)) { start(); }
  ~Bench() { engine.reset(); }

  void start() {
    engine.reset();
    agents::Agent agent;
    agent.name = {"scripted"};
    agent.settings.schedules = schedules_;
    agent.settings.concurrency = 10'000;
    auto made = std::make_unique<test::ScriptedExecutor>();
    executor = made.get();
    agent.executor = std::move(made);
    std::vector<agents::Agent> all;
    all.push_back(std::move(agent));
    catalogue.emplace(std::move(all));
    engine::EngineOptions options;
    options.drain_grace = std::chrono::milliseconds(0);
    options.slots = 10'000;
    engine.emplace(store, store, store, *catalogue, clock, options, engine::EngineWiring());
    REQUIRE(engine->start());
  }
  // Looks for due times, as the timer does.
  void look() { REQUIRE(engine->catalogue_changed()); }

  // Waits for `count` tasks, completes them, and returns their due times.
  std::vector<std::string> made(std::size_t count) {
    std::vector<std::string> due;
    for (std::size_t i = 0; i < count; ++i) {
      const auto turn = executor->next();
      REQUIRE(turn);
      const std::string& metadata = turn->turn.message.metadata.text;
      const std::size_t at = metadata.find("dueAt\":\"") + 8;
      due.push_back(metadata.substr(at, 16));
      CHECK(task::text_of(turn->turn.message) == "report");
      turn->sink->finish(agents::Done{});
      const task::TaskRef ref{{"ann"}, {"scripted"}, turn->turn.task};
      while (engine->reader().head(ref)->state != task::State::completed) std::this_thread::yield();
    }
    std::ranges::sort(due);
    return due;
  }
  std::int64_t all_tasks() {
    task::ListFilter filter;
    filter.caller = {"ann"};
    filter.agent = {"scripted"};
    return store.list(filter)->total;
  }
  // Waits until everything that was due has been handled.
  void settle() {
    std::promise<void> done;
    engine->after(std::chrono::milliseconds(0), [&] { done.set_value(); });
    done.get_future().wait();
    engine->settle();
  }

  test::ManualClock clock{1'800'000'000'000};  // 2027-01-15T08:00:00Z
  store::MemoryStore store{clock};
  test::ScriptedExecutor* executor = nullptr;
  std::optional<agents::Catalogue> catalogue;
  std::optional<engine::Engine> engine;

 private:
  const std::vector<agents::Schedule> schedules_;
};

using Times = std::vector<std::string>;

}  // namespace

TEST_CASE("Schedules: each due time makes one task of its caller, however often it is looked for") {
  Bench bench({schedule("30 * * * *", Missed::skip)});
  bench.settle();
  CHECK(bench.all_tasks() == 0);
  CHECK(bench.engine->counts().schedules.schedules == 1);
  bench.clock.advance(30 * kMinute);
  for (int i = 0; i < 3; ++i) bench.look();
  CHECK(bench.made(1) == Times{"2027-01-15T08:30"});
  bench.start();
  bench.look();
  bench.clock.advance(kHour);
  bench.look();
  CHECK(bench.made(1) == Times{"2027-01-15T09:30"});
  bench.settle();
  CHECK(bench.all_tasks() == 2);
}

TEST_CASE("Schedules: a node makes no tasks while another node has a newer card of the agent") {
  Bench bench({schedule("*/10 * * * *", Missed::all)});
  bench.catalogue->set_on_other_nodes({{"scripted"}}, {{"scripted"}});
  bench.clock.advance(kHour);
  bench.look();
  bench.settle();
  CHECK(bench.all_tasks() == 0);
  bench.catalogue->set_on_other_nodes({{"scripted"}}, {});
  bench.clock.advance(10 * kMinute);
  bench.look();
  CHECK(bench.made(1) == std::vector<std::string>{"2027-01-15T09:10"});
}

TEST_CASE("Schedules: missed times are skipped, or the last one or all are made up for") {
  struct Case {
    Missed missed;
    Times made;
  };
  for (const Case& one :
       {Case{Missed::skip, {"2027-01-15T12:00"}},
        Case{Missed::once, {"2027-01-15T11:00", "2027-01-15T12:00"}},
        Case{Missed::all,
             {"2027-01-15T09:00", "2027-01-15T10:00", "2027-01-15T11:00", "2027-01-15T12:00"}}}) {
    for (const bool restarts : {true, false}) {
      Bench bench({schedule("0 * * * *", one.missed)});
      bench.settle();
      bench.clock.advance(3 * kHour + 10 * kMinute);  // 11:10
      restarts ? bench.start() : bench.look();
      const std::size_t late = one.made.size() - 1;
      Times made = bench.made(late);
      if (restarts) bench.start();
      bench.clock.advance(50 * kMinute);
      bench.look();
      for (const std::string& due : bench.made(1)) made.push_back(due);
      CAPTURE(restarts);
      CHECK(made == one.made);
      bench.settle();
      CHECK(bench.all_tasks() == static_cast<std::int64_t>(one.made.size()));
    }
  }
}

TEST_CASE("Schedules: due times before a schedule was first seen do not count as missed") {
  Bench bench({schedule("0 * * * *", Missed::all)});
  bench.start();
  bench.settle();
  CHECK(bench.all_tasks() == 0);
}

TEST_CASE("Schedules: a due time just passed does not count as missed, and a long absence is bounded") {
  Bench skips({schedule("0 * * * *", Missed::skip)});
  skips.settle();
  skips.clock.advance(kHour + base::Duration(30'000));
  skips.start();
  CHECK(skips.made(1) == Times{"2027-01-15T09:00"});

  Bench all({schedule("* * * * *", Missed::all)});
  all.settle();
  all.clock.advance(48 * kHour);
  all.start();
  const Times made = all.made(1'000);
  CHECK(made.front() == "2027-01-16T15:21");
  CHECK(made.back() == "2027-01-17T08:00");
  all.settle();
  CHECK(all.all_tasks() == 1'000);
}

TEST_CASE("Schedules: after the clock was ahead, also when a schedule was first seen, due times are kept") {
  constexpr base::Duration kYear = 365 * 24 * kHour;
  Bench runs({schedule("0 * * * *", Missed::skip)});
  runs.clock.advance(kYear + 10 * kMinute);
  runs.look();
  runs.settle();
  runs.clock.advance(-kYear);
  runs.look();
  runs.settle();
  runs.clock.advance(50 * kMinute);
  runs.look();
  CHECK(runs.made(1) == Times{"2027-01-15T09:00"});

  Bench restarts({schedule("0 * * * *", Missed::skip)});
  restarts.clock.advance(-kYear);
  restarts.start();
  restarts.settle();
  restarts.clock.advance(kHour);
  restarts.look();
  CHECK(restarts.made(1) == Times{"2026-01-15T09:00"});
}

TEST_CASE("Schedules: two schedules of a card are independent, and hidden tasks are not listed") {
  Bench bench({schedule("0 9 * * *", Missed::skip, "s1"), schedule("0 9 15 * *", Missed::skip, "s2")});
  bench.settle();
  CHECK(bench.all_tasks() == 0);
  bench.clock.advance(kHour);
  bench.look();
  CHECK(bench.made(2) == Times{"2027-01-15T09:00", "2027-01-15T09:00"});
  bench.settle();
  CHECK(bench.engine->counts().schedules.begun == 2);
}

}  // namespace schedules_test
