#include "agents/remote/remote_executor.h"

#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "unit/agents/loop_bench.h"

namespace remote_turn_test {

using namespace baton;
using test::AgentBench;
using test::RawServer;
using test::RecordingSink;
using test::replies;
using test::wait_for;

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

std::string card_of(const RawServer& server, bool streams, const std::string& version) {
  return R"({"name":"far","description":"d","version":"1","capabilities":{"streaming":)" +
         std::string(streams ? "true" : "false") + R"(},"supportedInterfaces":[{"url":")" + server.url() +
         R"(","protocolBinding":"JSONRPC")" + version +
         R"(}],"defaultInputModes":["text/plain"],)"
         R"("defaultOutputModes":["text/plain"],"skills":[]})";
}

// The server shows its card; a test has the answers to all other requests, by the method of JSON-RPC.
struct Bench : test::LoopBench {
  using Answer = std::function<void(RawServer&, int connection, const std::string& method)>;

  // `version`: as the card names it.
  explicit Bench(Answer answer, bool streams = true,
                 const std::string& version = R"(,"protocolVersion":"1.0")")
      : LoopBench(
            [answer = std::move(answer), streams, version, seen = std::size_t{0}](RawServer& self,
                                                                                  int connection) mutable {
              const std::string& all = self.requests();
              const std::string request = all.substr(std::exchange(seen, all.size()));
              if (request.starts_with("GET"))
                return void(RawServer::say(connection, json_answer(card_of(self, streams, version))));
              const auto at = request.find("\"method\":\"");
              const auto begin = at + 10;
              answer(self, connection,
                     at == std::string::npos ? "" : request.substr(begin, request.find('"', begin) - begin));
            },
            [](LoopBench& bench) {
              return agents::remote_executor({{bench.loop, bench.pool, bench.pool}, bench.other_pool},
                                             task::AgentCard(), bench.settings, bench.rules);
            }) {
    const std::string url = server.url();
    settings.endpoint.url = url.substr(0, url.rfind('/'));
  }
};

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
  test::check_long_telling(bench, "a" + large);
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
    Bench bench(
        [&](RawServer&, int connection, const std::string& method) {
          if (method.starts_with("Send")) return void(RawServer::say(connection, refusal));
          RawServer::say(connection, kHead + event(R"({"kind":"message","messageId":"m","role":"agent",)"
                                                   R"("parts":[{"kind":"text","text":"old"}]})"));
        },
        true, "");
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
  const auto running = test::check_drops(bench, 100);
  bench.loop.stop();
  bench.other_pool.stop();
  bench.pool.stop();
}

TEST_CASE("RemoteTurn: while its output has no room the server has to wait, and nothing is lost") {
  Bench bench([answer = test::long_answer(kHead + kWorks, said(std::string(1'000, 'x')), kEnd)](
                  RawServer& self, int connection, const std::string&) { answer(self, connection); });
  test::check_backpressure(bench);
}

}  // namespace remote_turn_test
