#include "agents/agui/agui_turn.h"

#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "unit/agents/loop_bench.h"

namespace agui_turn_test {

using namespace baton;
using test::AgentBench;
using test::RawServer;
using test::RecordingSink;
using test::replies;
using test::wait_for;

namespace {

constexpr const char* kHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
constexpr const char* kEnd = "data: {\"type\":\"RUN_FINISHED\",\"threadId\":\"t\",\"runId\":\"r\"}\n\n";

std::string said(const std::string& text) {
  return R"(data: {"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":")" + text + "\"}\n\n";
}

struct Bench : test::LoopBench {
  explicit Bench(RawServer::Answer answer)
      : LoopBench(std::move(answer), [](LoopBench& bench) {
          return agents::agui_executor({bench.loop, bench.pool, bench.other_pool}, bench.settings,
                                       bench.rules);
        }) {}
};

}  // namespace

TEST_CASE("AguiTurn: a cancel closes the open calls, and like an end from outside the connection") {
  std::atomic<bool> is_closed{false};
  Bench bench([&](RawServer& self, int connection) {
    RawServer::say(connection,
                   kHead + said("well") +
                       "data: {\"type\":\"TOOL_CALL_CHUNK\",\"toolCallId\":\"c\",\"toolCallName\":\"look\","
                       "\"delta\":\"{}\"}\n\ndata: {\"type\":\"TOOL_CALL_END\",\"toolCallId\":\"c\"}\n\n");
    self.be_silent(connection);
    is_closed = true;
  });
  const auto has_called = [](const RecordingSink& sink) { return !sink.events().empty(); };
  auto canceled = bench.start();
  REQUIRE(canceled.sink->wait_until(has_called));
  canceled.turn->cancel();
  REQUIRE(canceled.sink->wait_finished());
  CHECK(canceled.sink->ending() == "canceled");
  REQUIRE(canceled.sink->events().size() == 2);
  CHECK(std::holds_alternative<task::ToolResult>(canceled.sink->events()[1]));
  CHECK(wait_for(is_closed));

  is_closed = false;
  auto dropped = bench.start();
  REQUIRE(dropped.sink->wait_until(has_called));
  bench.made.reset();  // a running turn does not need its executor
  dropped.turn.reset();
  CHECK(wait_for(is_closed));
  CHECK_FALSE(dropped.sink->finished());
}

TEST_CASE("AguiTurn: turns that are dropped in any state leave nothing behind") {
  const std::string large = said(std::string(100'000, 'x'));
  Bench bench(
      [&](RawServer&, int connection) { RawServer::say(connection, kHead + said("well") + large + kEnd); });
  const auto running = test::check_drops(bench, 200);
  bench.pool.stop();
  bench.other_pool.stop();
  bench.loop.stop();
}

TEST_CASE("AguiTurn: long events, which another thread decodes, are told in their order") {
  const std::string large(100'000, 'x');
  Bench bench([&](RawServer&, int connection) {
    RawServer::say(connection, kHead + said("a") + said(large) + said("b") + said("c") + said(large) + kEnd);
  });
  const auto running = bench.start();
  REQUIRE(running.sink->wait_finished());
  CHECK(running.sink->ending() == "done");
  CHECK(replies(*running.sink) == "a" + large + "bc" + large);

  Bench broken([&](RawServer&, int connection) {
    RawServer::say(connection, kHead + said(large) + "data: \"" + large + "\"\n\n");
  });
  const auto failed = broken.start();
  REQUIRE(failed.sink->wait_finished());
  CHECK(failed.sink->ending().starts_with("the remote agent's answer is invalid: "));
}

TEST_CASE("AguiTurn: pings and marks that are no events of the protocol are passed over") {
  Bench bench([&](RawServer&, int connection) {
    RawServer::say(connection, kHead + said("a") + "event: ping\ndata: {}\n\ndata: [DONE]\n\n" +
                                   "event: heartbeat\ndata: 12:00\n\n" +
                                   "event: heartbeat\ndata: {\"time\":1}\n\n" + said("b") + kEnd);
  });
  const auto running = bench.start();
  REQUIRE(running.sink->wait_finished());
  CHECK(running.sink->ending() == "done");
  CHECK(replies(*running.sink) == "ab");
}

TEST_CASE("AguiTurn: JSON in place of a stream is one event, if it is one") {
  const std::pair<std::string, std::string> rows[] = {
      {R"({"type":"RUN_ERROR","message":"no quota"})", "no quota"},
      {R"({"answer":42})", "the remote agent did not answer with an event stream"},
  };
  for (const auto& [body, ending] : rows) {
    CAPTURE(body);
    Bench bench([&](RawServer&, int connection) {
      RawServer::say(connection, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
                                     std::to_string(body.size()) + "\r\n\r\n" + body);
    });
    const auto running = bench.start();
    REQUIRE(running.sink->wait_finished());
    CHECK(running.sink->ending() == ending);
  }
}

TEST_CASE("AguiTurn: runs that follow one another in an answer are one turn, and the last decides its end") {
  const std::string begin = "data: {\"type\":\"RUN_STARTED\",\"threadId\":\"t\",\"runId\":\"r\"}\n\n";
  const std::string error = "data: {\"type\":\"RUN_ERROR\",\"message\":\"broke\"}\n\n";
  const std::string large(100'000, 'x');
  std::atomic<bool> fails{false};
  Bench bench([&](RawServer&, int connection) {
    RawServer::say(connection,
                   kHead + begin + said("a") + kEnd + begin + said(large) + (fails ? error : kEnd));
  });
  const auto running = bench.start();
  REQUIRE(running.sink->wait_finished());
  CHECK(running.sink->ending() == "done");
  CHECK(replies(*running.sink) == "a" + large);
  fails = true;
  const auto failed = bench.start();
  REQUIRE(failed.sink->wait_finished());
  CHECK(failed.sink->ending() == "broke");
}

TEST_CASE("AguiTurn: a server that keeps the stream open after its run does not keep the turn open") {
  std::atomic<bool> pings{false};
  Bench bench([&](RawServer& self, int connection) {
    RawServer::say(connection, kHead + said("a") + kEnd);
    pings ? self.drip(connection, ": ping\n\n", 100) : self.be_silent(connection);
  });
  bench.settings.turn_timeout = std::chrono::hours(1);  // it does not end the wait
  for (const bool is_silent : {true, false}) {
    CAPTURE(is_silent);
    pings = !is_silent;
    const auto running = bench.start();
    REQUIRE(running.sink->wait_finished());
    CHECK(running.sink->ending() == "done");
    CHECK(replies(*running.sink) == "a");
  }
}

TEST_CASE("AguiTurn: a long event is told without the loop, and a cancel waits until it is told") {
  const std::string large(100'000, 'x');
  Bench bench([&](RawServer& self, int connection) {
    RawServer::say(connection, kHead + said("a") + said(large) + said("b") + kEnd);
    self.be_silent(connection);
  });
  test::check_long_telling(bench, "a" + large);
}

TEST_CASE("AguiTurn: turns that wait for memory to decode keep none from beginning") {
  const std::string large(100'000, 'x');
  outbound::ByteBudget budget;
  const outbound::Intake other(&budget);
  auto all_memory = other.decode(std::size_t{60} << 20, std::size_t{60} << 20);
  REQUIRE(all_memory);
  std::atomic<bool> is_large{true};
  Bench bench([&](RawServer&, int connection) {
    RawServer::say(connection, kHead + said(is_large ? large : "short") + kEnd);
  });
  bench.rules.budget = &budget;
  std::vector<test::RunningTest> waiting;
  for (int i = 0; i < 6; ++i) waiting.push_back(bench.start());
  REQUIRE(test::eventually([&] { return budget.counts().waiting == 2; }));
  // A cancel waits neither for memory nor for a thread: of these four, two at least wait for one.
  for (int i = 0; i < 4; ++i) {
    waiting[i].turn->cancel();
    REQUIRE(waiting[i].sink->wait_finished());
    CHECK(waiting[i].sink->ending() == "canceled");
  }
  is_large = false;
  const auto another = bench.start();
  REQUIRE(another.sink->wait_finished());
  CHECK(replies(*another.sink) == "short");
  { const outbound::Intake::Decoding released = std::move(*all_memory); }
  for (const auto& running : waiting) {
    REQUIRE(running.sink->wait_finished());
    if (&running >= &waiting[4]) CHECK(running.sink->ending() == "done");
  }
}

TEST_CASE("AguiTurn: while its output has no room the server has to wait, and nothing is lost") {
  Bench bench(test::long_answer(kHead, said(std::string(1'000, 'x')), kEnd));
  test::check_backpressure(bench);
}

TEST_CASE("AguiTurn: a run whose last event lacks the empty line after it has ended, and is not made again") {
  std::atomic<int> asked{0};
  Bench bench([&](RawServer&, int connection) {
    ++asked;
    const std::string end = kEnd;
    RawServer::say(connection, kHead + said("a") + end.substr(0, end.size() - 2));
  });
  const auto running = bench.start();
  REQUIRE(running.sink->wait_finished());
  CHECK(running.sink->ending() == "done");
  CHECK(replies(*running.sink) == "a");
  CHECK(asked == 1);
}

}  // namespace agui_turn_test
