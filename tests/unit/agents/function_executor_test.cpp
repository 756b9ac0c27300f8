#include "agents/function_executor.h"

#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>

#include "support/agent_bench.h"
#include "support/patience.h"

namespace function_executor_test {

using namespace baton;
using agents::FunctionExecutor;
using agents::FunctionTurn;
using test::AgentBench;
using test::RecordingSink;

namespace {

struct Running {
  Running(base::WorkerPool& pool, FunctionExecutor::Function function)
      : executor(pool, std::move(function)), turn(executor.start(AgentBench::turn_of("hi"), sink)) {}
  std::shared_ptr<RecordingSink> sink = std::make_shared<RecordingSink>();
  FunctionExecutor executor;
  std::unique_ptr<agents::Execution> turn;
};

}  // namespace

TEST_CASE("FunctionExecutor: a function that returns ends its turn as done") {
  base::WorkerPool pool("functions", 2, 10);
  Running running(pool, [](FunctionTurn& turn) { turn.text(task::text_of(turn.input().message)); });
  REQUIRE(running.sink->wait_finished());
  CHECK(running.sink->all_text() == "hi");
  CHECK(running.sink->ending() == "done");
}

TEST_CASE("FunctionExecutor: an exception fails the turn, and its text is not shown") {
  base::WorkerPool pool("functions", 1, 10);
  Running running(pool, [](FunctionTurn&) { throw std::runtime_error("/secret/path"); });
  REQUIRE(running.sink->wait_finished());
  CHECK(running.sink->ending() == "the agent failed");
}

TEST_CASE("FunctionExecutor: the function sees a cancel, which also ends its wait for a child") {
  base::WorkerPool pool("functions", 1, 10);
  std::string error;
  Running running(pool, [&](FunctionTurn& turn) {
    error = turn.delegate({"d", "helper", {}, {}}).error;
    CHECK(turn.cancelled());
  });
  REQUIRE(running.sink->wait_until([](const auto& sink) { return !sink.delegates().empty(); }));
  running.turn->cancel();
  REQUIRE(running.sink->wait_finished());
  CHECK(running.sink->ending() == "canceled");
  CHECK(error == "the turn was canceled");
}

TEST_CASE("FunctionExecutor: delegate returns the child") {
  base::WorkerPool pool("functions", 1, 10);
  Running running(pool, [](FunctionTurn& turn) {
    const auto result = turn.delegate({"d", "helper", {}, {}});
    turn.text(result.task ? result.task->id.value : "none");
  });
  REQUIRE(running.sink->wait_until([](const auto& sink) { return !sink.delegates().empty(); }));
  task::Task child;
  child.id = {"child"};
  running.turn->deliver({"d", child, {}});
  REQUIRE(running.sink->wait_finished());
  CHECK(running.sink->all_text() == "child");
}

TEST_CASE("FunctionExecutor: a dropped turn is cancelled and its sink left alone") {
  base::WorkerPool pool("functions", 1, 10);
  std::atomic<bool> through{false};
  Running running(pool, [&](FunctionTurn& turn) {
    turn.text("up");
    CHECK(turn.wait_cancelled(test::patience()));
    turn.text("late");
    through = true;
  });
  REQUIRE(running.sink->wait_until([](const auto& sink) { return sink.text_calls() == 1; }));
  running.turn.reset();
  pool.stop();
  CHECK(through);
  CHECK(running.sink->all_text() == "up");
  CHECK_FALSE(running.sink->finished());
}

TEST_CASE("FunctionExecutor: a full pool fails the turn") {
  base::WorkerPool pool("functions", 1, 0);
  Running running(pool, [](FunctionTurn&) {});
  REQUIRE(running.sink->wait_finished());
  CHECK(running.sink->ending() == "too many turns are running at once; try again later");
}

TEST_CASE("FunctionExecutor: a function waits while its sink has no room") {
  base::WorkerPool pool("functions", 1, 10);
  auto sink = std::make_shared<RecordingSink>();
  sink->fill();
  FunctionExecutor executor(pool, [](FunctionTurn& turn) {
    turn.text("a");
    turn.text("b");
  });
  auto turn = executor.start(AgentBench::turn_of("x"), sink);
  REQUIRE(sink->wait_until([](const auto& one) { return one.refused_room(); }));
  CHECK(sink->text_now() == "a");
  sink->make_room();
  REQUIRE(sink->wait_finished());
  CHECK(sink->all_text() == "ab");
}

}  // namespace function_executor_test
