#include "agents/agui/agui_turn.h"

#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/agent_bench.h"
#include "support/held_sink.h"
#include "support/patience.h"
#include "support/recording_sink.h"
#include "unit/outbound/raw_server.h"

namespace agui_turn_test {

using namespace baton;
using test::AgentBench;
using test::patience;
using test::RawServer;
using test::RecordingSink;

namespace {

constexpr const char* kHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
constexpr const char* kEnd = "data: {\"type\":\"RUN_FINISHED\",\"threadId\":\"t\",\"runId\":\"r\"}\n\n";

std::string said(const std::string& text) {
  return R"(data: {"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":")" + text + "\"}\n\n";
}

std::string replies(const RecordingSink& sink) {
  std::string all;
  for (const agents::SaidReply& reply : sink.replies()) all += reply.text;
  return all;
}

// An endpoint's agent on its own loop, with a server that does what a test wants.
struct Bench {
  explicit Bench(RawServer::Answer answer) : server(std::move(answer)) {
    settings.endpoint.url = server.url();
    settings.turn_timeout = std::chrono::duration_cast<decltype(settings.turn_timeout)>(patience());
    rules.policy.allow_private = true;
    loop.start();
  }

  agents::Executor& executor() {
    if (!made) made = agents::agui_executor({loop, pool, decoding}, settings, rules);
    return *made;
  }
  test::RunningTest start(agents::Turn turn = AgentBench::turn_of("hi")) {
    test::RunningTest running;
    running.turn = executor().start(std::move(turn), running.sink);
    return running;
  }

  RawServer server;
  agents::AgentSettings settings;
  outbound::Rules rules;
  base::EventLoop loop{"turns"};
  base::WorkerPool pool{"turn-work", 2, 100};
  base::WorkerPool decoding{"turn-decode", 2, 100};
  std::unique_ptr<agents::Executor> made;
};

bool wait_for(const std::atomic<bool>& flag) {
  return test::eventually([&] { return flag.load(); });
}

// Whether the loop runs what is posted.
bool is_free(base::EventLoop& loop) {
  const auto flag = std::make_shared<std::atomic<bool>>(false);
  loop.post([flag] { *flag = true; });
  return wait_for(*flag);
}

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
  std::vector<test::RunningTest> all;
  for (int i = 0; i < 200; ++i) {
    all.push_back(bench.start());
    if (i % 3 == 0) all.back().turn->cancel();
    if (i % 2 == 0) all.back().turn.reset();
    if (i % 50 == 7) REQUIRE(all.back().sink->wait_finished());
  }
  for (const auto& running : all) {
    if (running.turn) REQUIRE(running.sink->wait_finished());
    CHECK(running.sink->outcomes().size() <= 1);
  }
  all.clear();
  for (int i = 0; i < 20; ++i) all.push_back(bench.start());
  bench.pool.stop();
  bench.decoding.stop();
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
  const auto sink = std::make_shared<test::HeldSink>();
  const auto turn = bench.executor().start(AgentBench::turn_of("hi"), sink);
  REQUIRE(sink->wait_held());
  CHECK(is_free(bench.loop));
  turn->cancel();
  CHECK(is_free(bench.loop));
  CHECK(sink->seen.wait_until([](const RecordingSink& seen) { return !seen.finished(); }));
  sink->let_go();
  REQUIRE(sink->seen.wait_finished());
  CHECK(sink->seen.ending() == "canceled");
  CHECK(replies(sink->seen) == "a" + large);
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
  constexpr int kPieces = 3'000;
  const std::string piece = said(std::string(1'000, 'x'));
  Bench bench([&](RawServer&, int connection) {
    RawServer::say(connection, kHead);
    for (int sent = 0; sent < kPieces && RawServer::say(connection, piece); ++sent) {
    }
    RawServer::say(connection, kEnd);
  });
  const auto sink = std::make_shared<RecordingSink>();
  sink->fill();
  const auto turn = bench.executor().start(AgentBench::turn_of("hi"), sink);
  REQUIRE(sink->wait_until([](const auto& now) { return now.refused_room() && !now.replies().empty(); }));
  std::size_t shown = 0;
  CHECK(sink->wait_until([&](const auto& now) {
    shown = replies(now).size();
    return true;
  }));
  CHECK(shown < 100'000);
  sink->make_room();
  REQUIRE(sink->wait_finished());
  CHECK(replies(*sink).size() == kPieces * 1'000);
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
