#include <doctest/doctest.h>

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <future>
#include <set>
#include <sstream>

#include "base/unique_fd.h"
#include "unit/agents/command/worker_bench.h"

namespace worker_test {

using namespace baton;
using test::AgentBench;
using test::message_of;
using test::WorkerBench;

TEST_CASE("Worker: one process runs many turns") {
  WorkerBench bench;
  std::set<std::string> pids;
  for (int i = 0; i < 50; ++i) {
    const auto sink = bench.work("t" + std::to_string(i));
    CHECK(sink->all_text() == "t" + std::to_string(i));
    pids.insert(message_of(*sink));
  }
  CHECK(pids.size() == 1);
  CHECK(bench.host.process_count() == 1);
}

TEST_CASE("Worker: long lines are taken in their order, and one that is refused fails its turn alone") {
  WorkerBench bench;
  CHECK(bench.work("long")->all_text() == "before " + std::string(1'000'000, 'x') + " after");
  CHECK(bench.work("long unknown")->ending().find("unknown type \"dance\"") != std::string::npos);
  CHECK(bench.work("x")->ending() == "done");
  CHECK(bench.host.process_count() == 1);
}

TEST_CASE("Worker: the first process starts with the first turn, a second one while the first is busy") {
  WorkerBench bench(2);
  bench.executor();
  CHECK(bench.host.process_count() == 0);
  auto held = bench.hold();
  CHECK(bench.host.process_count() == 1);
  CHECK(bench.work("x")->ending() == "done");
  CHECK(bench.host.process_count() == 2);
}

TEST_CASE("Worker: one process runs several turns at once") {
  WorkerBench bench;
  auto first = bench.hold();
  auto second = bench.hold();
  CHECK(bench.work("x")->ending() == "done");
  CHECK_FALSE(first.sink->finished());
  bench.work("release");
  REQUIRE(first.sink->wait_finished());
  REQUIRE(second.sink->wait_finished());
  CHECK(message_of(*first.sink) == "released");
  CHECK(message_of(*second.sink) == "released");
}

TEST_CASE("Worker: a turn waits while all workers are full") {
  WorkerBench bench;
  bench.settings.concurrency = 1;
  auto held = bench.hold();
  auto waiting = bench.begin("x");
  auto dropped = bench.begin("y");
  auto canceled = bench.begin("z");
  dropped.turn.reset();
  canceled.turn->cancel();
  REQUIRE(canceled.sink->wait_finished());
  CHECK(canceled.sink->ending() == "canceled");
  CHECK_FALSE(waiting.sink->finished());
  held.turn->cancel();
  REQUIRE(held.sink->wait_finished());
  CHECK(held.sink->ending() == "canceled");
  REQUIRE(waiting.sink->wait_finished());
  CHECK(waiting.sink->ending() == "done");
  CHECK(dropped.sink->outcomes().empty());
}

TEST_CASE("Worker: when a worker dies its turns fail with the reason, and the next turn gets a new worker") {
  WorkerBench bench;
  const std::string first = message_of(*bench.work("x"));
  auto held = bench.hold();
  CHECK(bench.work("die")->ending() == "the agent's worker process exited (exit code 7: worker says no)");
  REQUIRE(held.sink->wait_finished());
  CHECK(held.sink->ending() == "the agent's worker process exited (exit code 7: worker says no)");
  const std::string second = message_of(*bench.work("x"));
  CHECK(second != first);
}

TEST_CASE("Worker: standard error is kept for a failed turn that was alone, and for no turn beside others") {
  const auto errors_of = [](const test::RecordingSink& sink) {
    std::string errors;
    for (const task::EventBody& body : sink.events()) {
      if (const auto* kept = std::get_if<task::ExecutorState>(&body)) errors += kept->errors;
    }
    return errors;
  };
  WorkerBench bench;
  CHECK(errors_of(*bench.work("moan")) == "moans");
  CHECK(errors_of(*bench.work("moan")) == "moans");
  CHECK(errors_of(*bench.work("die")) == "worker says no");
  auto held = bench.hold();
  CHECK(errors_of(*bench.work("moan")).empty());
  CHECK(errors_of(*bench.work("die")).empty());
  REQUIRE(held.sink->wait_finished());
  CHECK(errors_of(*held.sink).empty());
}

TEST_CASE("Worker: workers that die at their start fail turns in the end and are not restarted in a loop") {
  WorkerBench bench;
  bench.python("import sys; print('no licence', file=sys.stderr); sys.exit(2)");
  const auto sink = bench.work("x");
  CHECK(sink->ending() == "the agent's worker process exited (exit code 2: no licence)");
}

TEST_CASE("Worker: a missing program fails the turn at once") {
  WorkerBench bench;
  bench.settings.command = {"no-such-program-here"};
  CHECK(bench.work("x")->ending() ==
        "cannot start no-such-program-here: it was not found in PATH or in the agent's folder");
}

TEST_CASE("Worker: protocol errors fail the turn concerned or all turns, and the next turn works") {
  WorkerBench bench;
  SUBCASE("a line that is not JSON fails all turns of the worker") {
    auto held = bench.hold();
    CHECK(bench.work("garbage")->ending() == "the agent printed a line that is not JSON: \"not json\"");
    REQUIRE(held.sink->wait_finished());
    CHECK(held.sink->ending() == "the agent printed a line that is not JSON: \"not json\"");
  }
  SUBCASE("an unknown type fails that turn only") {
    auto held = bench.hold();
    CHECK(bench.work("unknown")->ending().starts_with(
        "the agent printed a line that violates the line protocol: unknown type \"dance\": \"{"));
    CHECK(bench.work("release")->ending() == "done");
    REQUIRE(held.sink->wait_finished());
    CHECK(message_of(*held.sink) == "released");
  }
  SUBCASE("JSON that is nested too deeply fails that turn only") {
    auto held = bench.hold();
    CHECK(bench.work("deep")->ending().find("nested deeper than 100") != std::string::npos);
    CHECK(bench.work("release")->ending() == "done");
    REQUIRE(held.sink->wait_finished());
    CHECK(message_of(*held.sink) == "released");
  }
  SUBCASE("an event out of order fails that turn only, and the worker stays") {
    auto held = bench.hold();
    const auto disordered = bench.work("disorder");
    CHECK(disordered->ending() ==
          "the agent printed a line that violates the line protocol: step: \"s\" has not started");
    CHECK(disordered->all_text().empty());
    CHECK(bench.work("release")->ending() == "done");
    REQUIRE(held.sink->wait_finished());
    CHECK(message_of(*held.sink) == "released");
    CHECK(bench.host.process_count() == 1);
  }
  SUBCASE("a line about a turn that the worker was not given fails all its turns") {
    auto held = bench.hold();
    auto stranger = bench.begin("stranger");
    REQUIRE(held.sink->wait_finished());
    CHECK(held.sink->ending() == "the agent named a turn that it was not given");
    REQUIRE(stranger.sink->wait_finished());
    CHECK(stranger.sink->ending() == "the agent named a turn that it was not given");
  }
  SUBCASE("late output of a turn that has ended is ignored") {
    const auto late = bench.work("late");
    CHECK(bench.work("x")->ending() == "done");
    CHECK(late->ending() == "done");
    CHECK(late->all_text().empty());
  }
  SUBCASE("too much output that belongs to no turn fails all turns of the worker") {
    bench.settings.output_max = bench.settings.line_max = 1 << 20;
    auto held = bench.hold();
    CHECK(bench.work("late flood")->ending() == "done");
    REQUIRE(held.sink->wait_finished());
    CHECK(held.sink->ending() == "the agent printed too much that belongs to none of its turns");
  }
  SUBCASE("too much output ends the worker, and its other turns are broken off") {
    bench.settings.output_max = 1 << 20;
    auto held = bench.hold();
    CHECK(bench.work("flood")->ending() == "the agent printed more than 1 MiB");
    REQUIRE(held.sink->wait_finished());
    CHECK(held.sink->ending() == "broken off");
  }
  SUBCASE("too much refused output ends the worker, and its other turns are broken off") {
    bench.settings.output_max = 1 << 20;
    auto held = bench.hold();
    CHECK(bench.work("unknown flood")->ending().find("unknown type \"dance\"") != std::string::npos);
    REQUIRE(held.sink->wait_finished());
    CHECK(held.sink->ending() == "broken off");
  }
  CHECK(bench.work("x")->ending() == "done");
}

TEST_CASE("Worker: of a turn's refused lines, and of its late ones, the first is logged") {
  std::ostringstream text;
  const auto before = spdlog::default_logger();
  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text)));
  {
    WorkerBench bench;
    bench.settings.verbose_errors = false;
    bench.work("unknown");
    bench.work("late");
    CHECK(bench.work("x")->ending() == "done");  // all earlier lines were taken before this turn's
  }
  spdlog::set_default_logger(before);
  for (const std::string words : {"rejected a line of the agent", "printed a line after its end"}) {
    CAPTURE(words);
    const std::size_t first = text.str().find(words);
    CHECK(first != std::string::npos);
    CHECK(text.str().find(words, first + 1) == std::string::npos);
  }
}

TEST_CASE("Worker: a turn gets its delegated task's result") {
  WorkerBench bench;
  auto running = bench.begin("delegate");
  REQUIRE(running.sink->wait_until([](const auto& sink) { return !sink.delegates().empty(); }));
  running.turn->deliver({"d", std::nullopt, "nobody there"});
  REQUIRE(running.sink->wait_finished());
  CHECK(message_of(*running.sink) == "nobody there");
}

TEST_CASE("Worker: if a dropped turn stops, its worker and other turns are not affected") {
  WorkerBench bench;
  const std::string pid = message_of(*bench.work("x"));
  auto other = bench.hold();
  auto dropped = bench.hold();
  dropped.turn.reset();
  CHECK(message_of(*bench.work("x")) == pid);
  CHECK_FALSE(other.sink->finished());
  CHECK_FALSE(dropped.sink->finished());
  other.turn->cancel();
  REQUIRE(other.sink->wait_finished());
  CHECK(other.sink->ending() == "canceled");
}

TEST_CASE("Worker: a worker whose turn does not stop is replaced at once, and its other turns may finish") {
  WorkerBench bench;
  bench.settings.cancel_grace = std::chrono::milliseconds(100);
  const std::string old_pid = message_of(*bench.work("x"));
  auto other = bench.hold();
  auto dropped = bench.hold("deaf");
  dropped.turn.reset();
  REQUIRE(bench.wait_count(2));
  const std::string new_pid = message_of(*bench.work("x"));
  CHECK(new_pid != old_pid);
  CHECK_FALSE(other.sink->finished());
  other.turn->cancel();
  REQUIRE(other.sink->wait_finished());
  CHECK(other.sink->ending() == "canceled");
  CHECK(bench.wait_processes(1));
  CHECK(message_of(*bench.work("x")) == new_pid);
  CHECK(dropped.sink->outcomes().empty());
}

TEST_CASE("Worker: turns that do not finish while their worker is drained are broken off") {
  WorkerBench bench;
  bench.settings.cancel_grace = std::chrono::milliseconds(100);
  bench.settings.worker_drain = std::chrono::milliseconds(100);
  SUBCASE("and run again") {}
  SUBCASE("or fail if the agent's work must not be repeated") {
    bench.settings.recovery = agents::AgentSettings::Recovery::fail;
  }
  auto other = bench.hold();
  auto dropped = bench.hold("deaf");
  dropped.turn.reset();
  REQUIRE(other.sink->wait_finished());
  if (bench.settings.recovery == agents::AgentSettings::Recovery::resume) {
    CHECK(other.sink->ending() == "broken off");
  } else {
    CHECK(other.sink->ending() == "its worker process was stopped because another turn did not stop");
  }
  CHECK(bench.work("x")->ending() == "done");
  CHECK(bench.wait_processes(1));
}

TEST_CASE("Worker: a worker that has not answered a cancel yet gets no turn while others are free") {
  WorkerBench bench(2);
  const std::string pid = message_of(*bench.work("x"));
  auto deaf = bench.hold("deaf");
  auto other = bench.hold();  // goes to the second worker, so that each has one turn
  deaf.turn->cancel();
  CHECK(message_of(*bench.work("x")) != pid);
  CHECK(message_of(*bench.work("x")) != pid);
}

TEST_CASE("Worker: a worker whose only turn does not stop is ended at once") {
  WorkerBench bench;
  bench.settings.cancel_grace = std::chrono::milliseconds(100);
  const std::string old_pid = message_of(*bench.work("x"));
  auto dropped = bench.hold("deaf");
  dropped.turn.reset();
  const std::string new_pid = message_of(*bench.work("x"));
  CHECK(new_pid != old_pid);
  CHECK(bench.wait_processes(1));
  CHECK(message_of(*bench.work("x")) == new_pid);
}

TEST_CASE("Worker: a turn without output in time fails, and the worker's other turns continue") {
  WorkerBench bench;
  const auto time = std::chrono::ceil<std::chrono::seconds>(test::patience() / 20);
  bench.settings.first_output = time;
  bench.work("x");  // a first turn, because the worker's start would count too
  auto held = bench.hold();
  CHECK(bench.work("silence")->ending() ==
        "the agent printed nothing for " + std::to_string(time.count()) + " seconds");
  CHECK(bench.work("release")->ending() == "done");
  REQUIRE(held.sink->wait_finished());
  CHECK(message_of(*held.sink) == "released");
}

TEST_CASE("Worker: without a free descriptor the start is retried later, and no turn fails") {
  WorkerBench bench;
  bench.executor();
  std::vector<base::UniqueFd> taken;
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlimit before = limit;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, 256);
  setrlimit(RLIMIT_NOFILE, &limit);
  while (true) {
    base::UniqueFd one(dup(0));
    if (!one.valid()) break;
    taken.push_back(std::move(one));
  }
  auto waiting = bench.begin("x");
  // Posted functions run in order: this one runs after the first start of the turn's worker has failed.
  std::promise<void> tried;
  bench.host.post([&] { tried.set_value(); });
  tried.get_future().wait();
  CHECK_FALSE(waiting.sink->finished());
  taken.clear();
  setrlimit(RLIMIT_NOFILE, &before);
  REQUIRE(waiting.sink->wait_finished());
  CHECK(waiting.sink->ending() == "done");
}

TEST_CASE("Worker: while a sink has no room its worker's output is not read") {
  WorkerBench bench;
  bench.settings.cancel_grace = std::chrono::milliseconds(100);
  auto sink = std::make_shared<test::RecordingSink>();
  sink->fill();
  auto running = bench.start_with(sink, AgentBench::turn_of("flood", "big"));
  REQUIRE(sink->wait_until([](const auto& one) { return one.refused_room(); }));
  CHECK(sink->text_now().size() < 70000);
  sink->make_room();
  REQUIRE(sink->wait_until([](const auto& one) { return one.all_text().size() > 500000; }));
  running.turn.reset();
  CHECK(bench.work("x")->ending() == "done");
}

TEST_CASE("Worker: destroying the executor ends its workers") {
  agents::ProcessHost host;
  test::TempFolder folder;
  folder.write("agent.py", test::kWorker);
  agents::AgentSettings settings;
  settings.mode = agents::AgentSettings::Mode::worker;
  settings.command = {"python3", "-u", "agent.py"};
  auto executor =
      std::make_unique<agents::CommandExecutor>(host, task::AgentName{"probe"}, settings, folder.path());
  auto sink = std::make_shared<test::RecordingSink>();
  auto turn = executor->start(AgentBench::turn_of("x"), sink);
  REQUIRE(sink->wait_finished());
  turn.reset();
  CHECK(host.process_count() == 1);
  executor.reset();
  CHECK(test::eventually([&] { return host.process_count() == 0; }));
}

}  // namespace worker_test
