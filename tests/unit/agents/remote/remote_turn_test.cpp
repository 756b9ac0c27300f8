#include "agents/remote/remote_executor.h"

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

namespace remote_turn_test {

using namespace baton;
using test::AgentBench;
using test::patience;
using test::RawServer;
using test::RecordingSink;

namespace {

constexpr const char* kHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";

std::string json_answer(const std::string& body) {
  return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string event(const std::string& result) {
  return R"(data: {"jsonrpc":"2.0","id":1,"result":)" + result + "}\n\n";
}

const std::string kWorks =
    event(R"({"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}})");
const std::string kEnd =
    event(R"({"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}})");

std::string said(const std::string& text) {
  return event(
      R"({"artifactUpdate":{"taskId":"t","contextId":"c","append":true,"artifact":{"artifactId":"a","parts":[{"text":")" +
      text + R"("}]}}})");
}

std::string replies(const RecordingSink& sink) {
  std::string all;
  for (const agents::SaidReply& reply : sink.replies()) all += reply.text;
  return all;
}

// A remote agent on its own loop. The server shows its card; a test has the answers to all other requests, by
// the method of JSON-RPC.
struct Bench {
  using Answer = std::function<void(RawServer&, int connection, const std::string& method)>;

  explicit Bench(Answer answer, bool streams = true)
      : server([this, answer = std::move(answer), streams](RawServer& self, int connection) {
          const std::string& all = self.requests();
          const std::string request = all.substr(std::exchange(seen, all.size()));
          if (request.starts_with("GET")) return void(RawServer::say(connection, json_answer(card(streams))));
          const auto at = request.find("\"method\":\"");
          const auto begin = at + 10;
          answer(self, connection,
                 at == std::string::npos ? "" : request.substr(begin, request.find('"', begin) - begin));
        }) {
    const std::string url = server.url();
    settings.endpoint.url = url.substr(0, url.rfind('/'));
    settings.turn_timeout = std::chrono::duration_cast<decltype(settings.turn_timeout)>(patience());
    rules.policy.allow_private = true;
    loop.start();
  }

  std::string card(bool streams) const {
    return R"({"name":"far","description":"d","version":"1","capabilities":{"streaming":)" +
           std::string(streams ? "true" : "false") + R"(},"supportedInterfaces":[{"url":")" + server.url() +
           R"(","protocolBinding":"JSONRPC")" + version +
           R"(}],"defaultInputModes":["text/plain"],)"
           R"("defaultOutputModes":["text/plain"],"skills":[]})";
  }

  agents::Executor& executor() {
    if (!made)
      made = agents::remote_executor({{loop, pool, pool}, threads}, task::AgentCard(), settings, rules);
    return *made;
  }
  test::RunningTest start(agents::Turn turn = AgentBench::turn_of("hi")) {
    test::RunningTest running;
    running.turn = executor().start(std::move(turn), running.sink);
    return running;
  }

  std::string version = R"(,"protocolVersion":"1.0")";  // in the card
  std::size_t seen = 0;                                 // bytes of requests
  RawServer server;
  agents::AgentSettings settings;
  outbound::Rules rules;
  base::EventLoop loop{"turns"};
  base::WorkerPool pool{"turn-work", 2, 100};
  base::WorkerPool threads{"agent-call", 2, 100};
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

TEST_CASE("RemoteTurn: long events, which another thread decodes, are told in their order") {
  const std::string large(100'000, 'x');
  Bench bench([&](RawServer&, int connection, const std::string&) {
    RawServer::say(connection,
                   kHead + kWorks + said("a") + said(large) + said("b") + said("c") + said(large) + kEnd);
  });
  const auto running = bench.start();
  REQUIRE(running.sink->wait_finished());
  CHECK(running.sink->ending() == "done");
  CHECK(replies(*running.sink) == "a" + large + "bc" + large);
}

TEST_CASE("RemoteTurn: a long update is told without the loop, and a cancel waits until it is told") {
  const std::string large(100'000, 'x');
  Bench bench([&](RawServer& self, int connection, const std::string& method) {
    if (method == "CancelTask")
      return void(RawServer::say(
          connection,
          json_answer(
              R"({"jsonrpc":"2.0","id":1,"result":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_CANCELED"}}})")));
    RawServer::say(connection, kHead + kWorks + said("a") + said(large));
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

TEST_CASE("RemoteTurn: an error is read however long its body is, in place of a stream and of an answer") {
  for (const bool streams : {true, false}) {
    for (const char* status : {"200 OK", "500 Internal Server Error"}) {
      Bench bench(
          [&](RawServer&, int connection, const std::string&) {
            const std::string body =
                R"({"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"it broke","data":")" +
                std::string(100'000, 'x') + "\"}}";
            RawServer::say(connection, "HTTP/1.1 " + std::string(status) +
                                           "\r\nContent-Type: application/json\r\nContent-Length: " +
                                           std::to_string(body.size()) + "\r\n\r\n" + body);
          },
          streams);
      const auto running = bench.start();
      REQUIRE(running.sink->wait_finished());
      CHECK(running.sink->ending().starts_with("the remote agent: it broke"));
    }
  }
}

TEST_CASE("RemoteTurn: a whole answer in place of a stream, short or long, counts") {
  for (const std::size_t size : {10u, 100'000u}) {
    Bench bench([&](RawServer&, int connection, const std::string&) {
      RawServer::say(
          connection,
          json_answer(
              R"({"jsonrpc":"2.0","id":1,"result":{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":")" +
              std::string(size, 'x') + R"("}]}}})"));
    });
    const auto running = bench.start();
    REQUIRE(running.sink->wait_finished());
    const auto* done = running.sink->outcome_as<agents::Done>();
    REQUIRE(done != nullptr);
    CHECK(task::text_of(*done->message).size() == size);
  }
}

TEST_CASE(
    "RemoteTurn: if the card does not say which version it is of, the older one is tried after the newer") {
  const auto error = [](const std::string& code) {
    return json_answer(R"({"jsonrpc":"2.0","id":1,"error":{"code":)" + code + R"(,"message":"no"}})");
  };
  const std::string not_there = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
  for (const std::string& refusal : {error("-32601"), error("-32009"), not_there}) {
    CAPTURE(refusal);
    Bench bench([&](RawServer&, int connection, const std::string& method) {
      if (method.starts_with("Send")) return void(RawServer::say(connection, refusal));
      RawServer::say(connection, kHead + event(R"({"kind":"message","messageId":"m","role":"agent",)"
                                               R"("parts":[{"kind":"text","text":"old"}]})"));
    });
    bench.version = "";
    const auto running = bench.start();
    REQUIRE(running.sink->wait_finished());
    const auto* done = running.sink->outcome_as<agents::Done>();
    REQUIRE(done != nullptr);
    CHECK(task::text_of(*done->message) == "old");
  }
}

TEST_CASE("RemoteTurn: an answer that is streamed as messages is taken as a whole") {
  const auto piece = [](const std::string& text) {
    return event(R"({"message":{"messageId":"m","role":"ROLE_AGENT","parts":[)" +
                 (text.empty() ? "" : R"({"text":")" + text + "\"}") + "]}}");
  };
  Bench bench([&](RawServer&, int connection, const std::string&) {
    RawServer::say(connection, kHead + piece("") + piece("hel") + piece("lo") + piece(""));
  });
  const auto running = bench.start();
  REQUIRE(running.sink->wait_finished());
  CHECK(running.sink->ending() == "done");
  CHECK(replies(*running.sink) == "hello");
}

TEST_CASE("RemoteTurn: the last event of a stream counts without the empty line after it") {
  std::atomic<int> asked{0};
  Bench bench([&](RawServer&, int connection, const std::string&) {
    ++asked;
    RawServer::say(connection, kHead + kWorks + said("hi") + kEnd.substr(0, kEnd.size() - 2));
  });
  const auto running = bench.start();
  REQUIRE(running.sink->wait_finished());
  CHECK(running.sink->ending() == "done");
  CHECK(replies(*running.sink) == "hi");
  CHECK(asked == 1);
}

TEST_CASE("RemoteTurn: a stream that stays open after its messages ends the turn well, before its time") {
  for (const int count : {1, 2}) {
    CAPTURE(count);
    Bench bench([&](RawServer& self, int connection, const std::string&) {
      RawServer::say(connection, kHead);
      for (int i = 0; i < count; ++i) {
        RawServer::say(connection,
                       event(R"({"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"hi"}]}})"));
      }
      self.be_silent(connection);
    });
    bench.settings.turn_timeout = std::chrono::seconds(4);
    const auto running = bench.start();
    REQUIRE(running.sink->wait_finished());
    const auto* done = running.sink->outcome_as<agents::Done>();
    REQUIRE(done != nullptr);
    CHECK((done->message ? task::text_of(*done->message) : replies(*running.sink)) ==
          (count == 1 ? "hi" : "hihi"));
  }
}

TEST_CASE("RemoteTurn: a task without a stream is polled, and a long answer is decoded by another thread") {
  std::atomic<int> gets{0};
  const auto task = [](const std::string& state, const std::string& text) {
    return R"({"id":"t","contextId":"c","status":{"state":"TASK_STATE_)" + state +
           R"("},"artifacts":[{"artifactId":"a","parts":[{"text":")" + text + R"("}]}]})";
  };
  const std::string large(100'000, 'x');
  Bench bench(
      [&](RawServer&, int connection, const std::string& method) {
        const bool is_over = method == "GetTask" && ++gets == 2;
        const std::string now = is_over ? task("COMPLETED", "well" + large) : task("WORKING", "well");
        RawServer::say(connection,
                       json_answer(R"({"jsonrpc":"2.0","id":1,"result":)" +
                                   (method == "GetTask" ? now : R"({"task":)" + now + "}") + "}"));
      },
      false);
  const auto running = bench.start();
  REQUIRE(running.sink->wait_finished());
  CHECK(running.sink->ending() == "done");
  CHECK(replies(*running.sink) == "well" + large);
  CHECK(gets == 2);
}

TEST_CASE("RemoteTurn: a message whose stream is refused is sent without a stream") {
  for (const char* status : {"404 Not Found", "405 Method Not Allowed", "501 Not Implemented"}) {
    CAPTURE(status);
    Bench bench([&](RawServer&, int connection, const std::string& method) {
      if (method == "SendStreamingMessage")
        return void(
            RawServer::say(connection, "HTTP/1.1 " + std::string(status) + "\r\nContent-Length: 0\r\n\r\n"));
      RawServer::say(connection, json_answer(R"({"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t",)"
                                             R"("status":{"state":"TASK_STATE_COMPLETED"}}}})"));
    });
    bench.settings.endpoint.on_unknown = agents::Endpoint::OnUnknown::fail;
    const auto running = bench.start();
    REQUIRE(running.sink->wait_finished());
    CHECK(running.sink->ending() == "done");
  }
}

TEST_CASE("RemoteTurn: an invalid answer to a poll or a cancel is followed by another look") {
  for (const bool is_canceled : {false, true}) {
    CAPTURE(is_canceled);
    std::atomic<bool> is_looked_at{false}, has_invalid{false};
    Bench bench(
        [&](RawServer&, int connection, const std::string& method) {
          const std::string task = R"({"id":"t","contextId":"c","status":{"state":"TASK_STATE_)";
          std::string result = task + R"(WORKING"}})";
          if (method == "SendMessage") {
            result = R"({"task":)" + result + "}";
          } else if (method == (is_canceled ? "CancelTask" : "GetTask") && !has_invalid.exchange(true)) {
            result = "{}";
          } else if (has_invalid) {
            result = task + (is_canceled ? "CANCELED" : "COMPLETED") + R"("}})";
          }
          is_looked_at = method == "GetTask";
          RawServer::say(connection, json_answer(R"({"jsonrpc":"2.0","id":1,"result":)" + result + "}"));
        },
        false);
    const auto running = bench.start();
    if (is_canceled) {
      REQUIRE(wait_for(is_looked_at));
      running.turn->cancel();
    }
    REQUIRE(running.sink->wait_finished());
    CHECK(running.sink->ending() == (is_canceled ? "canceled" : "done"));
  }
}

TEST_CASE("RemoteTurn: a cancel hangs up and cancels the task there, which decides how the turn ends") {
  std::atomic<bool> is_canceled{false}, is_closed{false};
  Bench bench([&](RawServer& self, int connection, const std::string& method) {
    if (method == "CancelTask") {
      is_canceled = true;
      RawServer::say(
          connection,
          json_answer(
              R"({"jsonrpc":"2.0","id":1,"result":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_CANCELED"}}})"));
      return;
    }
    RawServer::say(connection, kHead + kWorks + said("well"));
    self.be_silent(connection);
    is_closed = true;
  });
  auto canceled = bench.start();
  REQUIRE(canceled.sink->wait_until([](const auto& sink) { return replies(sink) == "well"; }));
  canceled.turn->cancel();
  REQUIRE(canceled.sink->wait_finished());
  CHECK(canceled.sink->ending() == "canceled");
  CHECK(is_closed);
  CHECK(is_canceled);

  // A turn that is dropped hangs up, but cancels nothing: it may go on later.
  is_canceled = is_closed = false;
  auto dropped = bench.start();
  REQUIRE(dropped.sink->wait_until([](const auto& sink) { return replies(sink) == "well"; }));
  bench.made.reset();  // a running turn does not need its executor
  dropped.turn.reset();
  CHECK(wait_for(is_closed));
  CHECK_FALSE(dropped.sink->finished());
  CHECK_FALSE(is_canceled);
}

TEST_CASE("RemoteTurn: turns that are dropped or canceled in any state leave nothing behind") {
  const std::string large(100'000, 'x');
  Bench bench([&](RawServer&, int connection, const std::string& method) {
    if (method.starts_with("Send"))
      return void(RawServer::say(connection, kHead + kWorks + said(large) + kEnd));
    RawServer::say(connection,
                   json_answer(R"({"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"not found"}})"));
  });
  bench.settings.cancel_grace = std::chrono::milliseconds(500);
  std::vector<test::RunningTest> all;
  for (int i = 0; i < 100; ++i) {
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
  bench.loop.stop();
  bench.threads.stop();
  bench.pool.stop();
}

TEST_CASE("RemoteTurn: while its output has no room the server has to wait, and nothing is lost") {
  constexpr int kPieces = 3'000;
  const std::string piece = said(std::string(1'000, 'x'));
  Bench bench([&](RawServer&, int connection, const std::string&) {
    RawServer::say(connection, kHead + kWorks);
    for (int sent = 0; sent < kPieces && RawServer::say(connection, piece); ++sent) {
    }
    RawServer::say(connection, kEnd);
  });
  const auto sink = std::make_shared<RecordingSink>();
  sink->fill();
  const auto turn = bench.executor().start(AgentBench::turn_of("hi"), sink);
  REQUIRE(sink->wait_until([](const auto& now) { return now.refused_room(); }));
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

}  // namespace remote_turn_test
