#include "agents/model/model_turn.h"

#include <doctest/doctest.h>
#include <malloc.h>

#include <atomic>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "unit/agents/loop_bench.h"

namespace model_turn_test {

using namespace baton;
using test::AgentBench;
using test::eventually;
using test::patience;
using test::RawServer;
using test::RecordingSink;
using test::wait_for;

namespace {

constexpr const char* kHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
constexpr const char* kDone =
    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

std::string said(const std::string& text) {
  return "data: {\"choices\":[{\"delta\":{\"content\":\"" + text + "\"}}]}\n\n";
}

struct Bench : test::LoopBench {
  explicit Bench(RawServer::Answer answer)
      : LoopBench(std::move(answer), [](LoopBench& bench) {
          return agents::model_executor({bench.loop, bench.pool, bench.pool}, bench.settings, bench.rules);
        }) {
    settings.model.name = "tiny";
  }
};

// A sink that has no memory for texts.
class FullSink final : public agents::TurnSink {
 public:
  void emit(task::EventBody body) override { inner.emit(std::move(body)); }
  void text(std::string) override { throw std::bad_alloc(); }
  void reply(agents::ReplyPiece piece) override { inner.reply(std::move(piece)); }
  void reasoning(std::string delta) override { inner.reasoning(std::move(delta)); }
  bool ready(std::function<void()> when_ready) override { return inner.ready(std::move(when_ready)); }
  void delegate(agents::DelegateRequest request) override { inner.delegate(std::move(request)); }
  void finish(agents::Outcome outcome) override { inner.finish(std::move(outcome)); }
  RecordingSink inner;
};

std::string whole(const std::string& text) {
  const std::string body = R"({"object":"chat.completion","choices":[{"index":0,"message":{"content":")" +
                           text + R"("},"finish_reason":"stop"}]})";
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

// An answer that calls the agent "helper" so many times.
std::string calls_of_helper(int count) {
  std::string calls;
  for (int i = 0; i < count; ++i) {
    calls += (i == 0 ? "" : ",") + (R"({"index":)" + std::to_string(i)) + R"(,"id":"c)" + std::to_string(i) +
             R"(","type":"function","function":{"name":"helper","arguments":"{\"message\":\"go\"}"}})";
  }
  return std::string(kHead) + R"(data: {"choices":[{"delta":{"tool_calls":[)" + calls +
         R"(]},"finish_reason":"tool_calls"}]})" + "\n\ndata: [DONE]\n\n";
}

std::string refusal(const std::string& status, const std::string& words) {
  const std::string body = R"({"error":{"message":")" + words + R"("}})";
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

agents::DelegateResult result_of(const std::string& id, std::vector<task::Part> parts) {
  task::Task child;
  child.status.state = task::State::completed;
  child.artifacts.emplace_back().parts = std::move(parts);
  return {id, std::move(child), {}};
}

std::size_t allocated() {
  const auto now = mallinfo2();
  return now.uordblks + now.hblkhd;
}

}  // namespace

TEST_CASE("ModelTurn: a stream becomes the text of the turn, which ends with it") {
  Bench bench([](RawServer&, int connection) {
    RawServer::say(connection, kHead + said("It is ") + said("sunny.") + kDone);
  });
  const auto running = bench.start();
  REQUIRE(running.sink->wait_finished());
  CHECK(running.sink->all_text() == "It is sunny.");
  CHECK(running.sink->ending() == "done");
}

TEST_CASE("ModelTurn: a whole answer may have a byte order mark and bytes that are not UTF-8") {
  const std::string body = "\xEF\xBB\xBF{\"choices\":[{\"message\":{\"content\":\"half \xC3\"}}]}";
  Bench bench([&](RawServer&, int connection) {
    RawServer::say(connection,
                   "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  });
  const auto running = bench.start();
  REQUIRE(running.sink->wait_finished());
  CHECK(running.sink->ending() == "done");
  CHECK(running.sink->all_text() == "half \xEF\xBF\xBD");
}

// As llama.cpp reported it until September 2025.
TEST_CASE("ModelTurn: an error in a field of its own is not overlooked because the stream says it is done") {
  std::atomic<int> asked{0};
  Bench bench([&](RawServer&, int connection) {
    RawServer::say(connection, kHead + (asked++ == 0 ? "" : said("well")) +
                                   "error: {\"code\":400,\"message\":\"the context is too small\"}\n\n"
                                   "data: [DONE]\n\n");
  });
  bench.settings.recovery = agents::AgentSettings::Recovery::fail;
  for (const char* before : {"", "well"}) {
    const auto running = bench.start();
    REQUIRE(running.sink->wait_finished());
    CHECK(running.sink->all_text() == before);
    CHECK(running.sink->ending() == "the model cannot answer: the context is too small");
  }
}

// As Gemini and relays report it in the middle of a stream.
TEST_CASE("ModelTurn: an error in JSON without a field is reported, and other such JSON is passed over") {
  const std::string error = R"({"error":{"code":400,"message":"the context is too small"}})";
  const std::string lines =
      "[{\n  \"error\": {\n    \"code\": 400,\n    \"message\": \"the context is too small\"\n  }\n}\n]\n";
  const std::string failed = "the model cannot answer: the context is too small";
  struct Row {
    std::string stream, text, ending;
  };
  const Row rows[] = {
      {said("well") + error, "well", failed},
      {said("well") + error + "\n\ndata: [DONE]\n\n", "well", failed},
      {said("well") + error + "\ndata: [DONE]\n\n", "well", failed},
      {said("well") + lines, "well", failed},
      {": waiting\n\n" + error + "\n\n", "", failed},
      {said("well") + "{\"note\":1}\n\n[note]\n\n" + kDone, "well", "done"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.stream);
    Bench bench([&](RawServer&, int connection) { RawServer::say(connection, kHead + row.stream); });
    bench.settings.recovery = agents::AgentSettings::Recovery::fail;
    const auto running = bench.start();
    REQUIRE(running.sink->wait_finished());
    CHECK(running.sink->all_text() == row.text);
    CHECK(running.sink->ending() == row.ending);
  }
}

TEST_CASE("ModelTurn: a call of an answer that was cut off or filtered is not made") {
  const std::string call =
      R"("tool_calls":[{"index":0,"id":"c","function":{"name":"helper","arguments":"{\"message\":\"g\"}"}}])";
  const std::pair<const char*, const char*> ends[] = {{"length", "it reached its length limit"},
                                                      {"content_filter", "filter blocked the answer"}};
  for (const auto& [reason, words] : ends) {
    CAPTURE(reason);
    const std::string answer = std::string(kHead) + R"(data: {"choices":[{"delta":{)" + call +
                               R"(},"finish_reason":")" + reason + "\"}]}\n\ndata: [DONE]\n\n";
    Bench bench([&](RawServer&, int connection) { RawServer::say(connection, answer); });
    bench.settings.model.tools = {"helper"};
    const auto running = bench.start();
    REQUIRE(running.sink->wait_finished());
    CHECK(running.sink->delegates().empty());
    CHECK(running.sink->ending().find(words) != std::string::npos);
  }
}

TEST_CASE("ModelTurn: an error after a piece of a call is an answer that broke off, and is asked for again") {
  using Recovery = agents::AgentSettings::Recovery;
  struct Row {
    std::string code;
    Recovery recovery;
    std::string ending;
  };
  const std::vector<Row> table{{"odd", Recovery::resume, "done"},
                               {"odd", Recovery::fail, "the model cannot answer: oops"},
                               {"overloaded_error", Recovery::fail, "done"}};
  for (const Row& row : table) {
    CAPTURE(&row - table.data());
    std::atomic<int> asked{0};
    Bench bench([&](RawServer&, int connection) {
      if (asked++ > 0) return void(RawServer::say(connection, kHead + said("right") + kDone));
      RawServer::say(
          connection,
          std::string(kHead) +
              R"(data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f"}}]}}]})"
              "\n\ndata: {\"error\":{\"message\":\"oops\",\"type\":\"" +
              row.code + "\"}}\n\n");
    });
    bench.settings.recovery = row.recovery;
    const auto running = bench.start();
    REQUIRE(running.sink->wait_finished());
    CHECK(running.sink->ending() == row.ending);
    CHECK(running.sink->all_text() == (row.ending == "done" ? "right" : ""));
  }
}

TEST_CASE("ModelTurn: a cancel, and an end from outside, close the connection at once") {
  std::atomic<bool> is_closed{false};
  Bench bench([&](RawServer& self, int connection) {
    RawServer::say(connection, kHead + said("well"));
    self.be_silent(connection);
    is_closed = true;
  });
  auto canceled = bench.start();
  REQUIRE(canceled.sink->wait_until([](const auto& sink) { return sink.all_text() == "well"; }));
  canceled.turn->cancel();
  REQUIRE(canceled.sink->wait_finished());
  CHECK(canceled.sink->ending() == "canceled");
  CHECK(wait_for(is_closed));

  is_closed = false;
  auto dropped = bench.start();
  REQUIRE(dropped.sink->wait_until([](const auto& sink) { return sink.all_text() == "well"; }));
  bench.made.reset();  // a running turn does not need its executor
  dropped.turn.reset();
  CHECK(wait_for(is_closed));
  CHECK_FALSE(dropped.sink->finished());
}

TEST_CASE("ModelTurn: turns that are dropped in any state leave nothing behind") {
  Bench bench([&](RawServer&, int connection) { RawServer::say(connection, kHead + said("well") + kDone); });
  // Those that are asking are stopped by the end of the loop.
  const auto running = test::check_drops(bench, 200);
  bench.pool.stop();
  bench.loop.stop();
}

TEST_CASE("ModelTurn: a server that refuses connections is tried again, up to the turn's time") {
  Bench bench([](RawServer&, int) {});
  // Closed after the bench has its port, which it could reuse otherwise.
  bench.settings.endpoint.url = RawServer([](RawServer&, int) {}).url();
  bench.settings.turn_timeout = patience() / 60;
  const auto running = bench.start();
  REQUIRE(running.sink->wait_finished());
  CHECK(running.sink->ending() == "the model cannot answer: the connection failed");
  CHECK(running.sink->events().size() == 1);  // says once that it is unavailable
}

TEST_CASE("ModelTurn: while its output has no room the server has to wait, and nothing is lost") {
  Bench bench(test::long_answer(kHead, said(std::string(1'000, 'x')), kDone));
  test::check_backpressure(bench);
}

TEST_CASE("ModelTurn: children's results come in any order, and the model is asked again with all of them") {
  std::atomic<int> asked{0};
  Bench bench([&](RawServer&, int connection) {
    const auto call = [](int index) {
      return R"({"index":)" + std::to_string(index) + R"(,"id":"c)" + std::to_string(index) +
             R"(","type":"function","function":{"name":"helper","arguments":"{\"message\":\"go\"}"}})";
    };
    if (asked++ > 0) return void(RawServer::say(connection, kHead + said("thanks") + kDone));
    RawServer::say(connection, std::string(kHead) + "data: {\"choices\":[{\"delta\":{\"tool_calls\":[" +
                                   call(0) + "," + call(1) +
                                   "]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n");
  });
  bench.settings.model.tools = {"helper"};
  auto running = bench.start();
  REQUIRE(running.sink->wait_until([](const auto& sink) { return sink.delegates().size() == 2; }));
  const auto result = [](const std::string& id, const std::string& text) {
    task::Task child;
    child.status.state = task::State::completed;
    task::Artifact said;
    said.parts = {task::Part::of_text(text)};
    child.artifacts.push_back(said);
    return agents::DelegateResult{id, child, {}};
  };
  running.turn->deliver(result(running.sink->delegates()[1].id, "the second"));
  running.turn->deliver(result(running.sink->delegates()[0].id, "the first"));
  REQUIRE(running.sink->wait_finished());
  CHECK(running.sink->ending() == "done");
  CHECK(running.sink->all_text() == "thanks");
  const std::string& requests = bench.server.requests();
  CHECK(requests.find("the first") < requests.find("the second"));
  CHECK(requests.find("the second") != std::string::npos);
}

TEST_CASE("ModelTurn: an empty answer is asked for once more, also after another one and a round of tools") {
  const std::string empty = kHead + std::string(kDone);
  const std::string answers[] = {empty, calls_of_helper(1), empty, kHead + said("thanks") + kDone};
  std::atomic<std::size_t> asked{0};
  Bench bench([&](RawServer&, int connection) { RawServer::say(connection, answers[asked++ % 4]); });
  bench.settings.model.tools = {"helper"};
  auto running = bench.start();
  REQUIRE(running.sink->wait_until([](const auto& sink) { return sink.delegates().size() == 1; }));
  running.turn->deliver(result_of(running.sink->delegates()[0].id, {task::Part::of_text("here")}));
  REQUIRE(running.sink->wait_finished());
  CHECK(running.sink->ending() == "done");
  CHECK(running.sink->all_text() == "thanks");
  CHECK(asked == 4);
}

TEST_CASE("ModelTurn: of results that wait for another child, only what the model gets is kept") {
  constexpr int kChildren = 8;
  constexpr std::size_t kFile = 8 << 20, kImage = 3 << 20;
  std::atomic<int> asked{0};
  Bench bench([&](RawServer&, int connection) {
    RawServer::say(connection, asked++ == 0 ? calls_of_helper(kChildren) : kHead + said("thanks") + kDone);
  });
  bench.settings.model.tools = {"helper"};
  auto running = bench.start();
  REQUIRE(running.sink->wait_until(
      [](const auto& sink) { return sink.delegates().size() == std::size_t{kChildren}; }));
  const auto id = [&](int nth) { return running.sink->delegates()[static_cast<std::size_t>(nth)].id; };
  const std::size_t before = allocated();
  for (int nth = kChildren - 1; nth > 0; --nth) {
    running.turn->deliver(
        result_of(id(nth), {{task::Part::Kind::raw, std::string(kFile, 'A'), "a.bin", {}, {}},
                            {task::Part::Kind::raw,
                             std::string(kImage, static_cast<char>('A' + nth)),
                             "a.png",
                             "image/png",
                             {}}}));
  }
  CHECK(eventually([&] { return allocated() < before + 4 * kImage; }));
  running.turn->deliver(result_of(id(0), {task::Part::of_text("the first")}));
  REQUIRE(running.sink->wait_finished());
  CHECK(running.sink->ending() == "done");
  // The newest images have room, whatever came first.
  const std::string& requests = bench.server.requests();
  CHECK(requests.find("the first") != std::string::npos);
  for (int nth = 1; nth < kChildren; ++nth) {
    CAPTURE(nth);
    const std::string image = "base64," + std::string(100, static_cast<char>('A' + nth));
    CHECK((requests.find(image) != std::string::npos) == (nth >= kChildren - 2));
  }
}

TEST_CASE("ModelTurn: the texts of all results of a turn are bounded together") {
  constexpr int kChildren = 34;
  constexpr std::size_t kText = 256 << 10;  // as much as one result may have
  std::atomic<int> asked{0};
  Bench bench([&](RawServer&, int connection) {
    RawServer::say(connection, asked++ == 0 ? calls_of_helper(kChildren) : kHead + said("thanks") + kDone);
  });
  bench.settings.model.tools = {"helper"};
  auto running = bench.start();
  REQUIRE(running.sink->wait_until(
      [](const auto& sink) { return sink.delegates().size() == std::size_t{kChildren}; }));
  for (int nth = 0; nth < kChildren; ++nth) {
    const std::string text = nth == 0              ? "the first"
                             : nth + 1 < kChildren ? std::string(kText, 'x')
                                                   : "the last";
    running.turn->deliver(
        result_of(running.sink->delegates()[static_cast<std::size_t>(nth)].id, {task::Part::of_text(text)}));
  }
  REQUIRE(running.sink->wait_finished());
  CHECK(running.sink->ending() == "done");
  const std::string& requests = bench.server.requests();
  CHECK(requests.size() < 33 * kText);
  CHECK(requests.find("the first") != std::string::npos);
  CHECK(requests.find("the last") == std::string::npos);
  CHECK(requests.find("\"\\n[cut off]\"") != std::string::npos);
}

TEST_CASE("ModelTurn: a server that fails because of a result's images is asked again without them") {
  const std::string failures[] = {refusal("400 Bad Request", "content must be a string"),
                                  refusal("500 Internal Server Error", "image input is not supported")};
  for (const std::string& answer : failures) {
    CAPTURE(answer);
    std::atomic<int> asked{0};
    Bench bench([&](RawServer&, int connection) {
      const int nth = asked++;
      if (nth == 0)
        RawServer::say(
            connection,
            std::string(kHead) +
                R"(data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c0","type":"function",)"
                R"("function":{"name":"helper","arguments":"{\"message\":\"go\"}"}}]},)"
                R"("finish_reason":"tool_calls"}]})"
                "\n\ndata: [DONE]\n\n");
      if (nth == 1) RawServer::say(connection, answer);
      if (nth == 2) RawServer::say(connection, kHead + said("thanks") + kDone);
    });
    bench.settings.model.tools = {"helper"};
    auto running = bench.start();
    REQUIRE(running.sink->wait_until([](const auto& sink) { return sink.delegates().size() == 1; }));
    task::Task child;
    child.status.state = task::State::completed;
    task::Artifact drawn;
    drawn.parts = {{task::Part::Kind::raw, "AAAA", "a.png", "image/png", {}}};
    child.artifacts.push_back(drawn);
    running.turn->deliver(agents::DelegateResult{running.sink->delegates()[0].id, child, {}});
    REQUIRE(running.sink->wait_finished());
    CHECK(running.sink->ending() == "done");
    CHECK(running.sink->all_text() == "thanks");
    const std::string& requests = bench.server.requests();
    const std::string words = "[the file a.png, 3 bytes]";
    const std::size_t shown = requests.find("data:image/png;base64,AAAA");
    REQUIRE(shown != std::string::npos);
    CHECK(requests.find("data:image/png", shown + 1) == std::string::npos);
    CHECK(requests.find(words) < shown);
    CHECK(requests.find(words, shown) != std::string::npos);
  }
}

TEST_CASE("ModelTurn: a server that refuses a member of Baton's, also with 500, is asked again without it") {
  const std::string words = "extraneous key [include_usage] is not permitted";
  for (const std::string& answer :
       {refusal("400 Bad Request", words), refusal("500 Internal Server Error", words)}) {
    CAPTURE(answer);
    std::atomic<int> asked{0};
    Bench bench([&](RawServer&, int connection) {
      RawServer::say(connection, asked++ == 0 ? answer : kHead + said("hi") + kDone);
    });
    const auto running = bench.start();
    REQUIRE(running.sink->wait_finished());
    CHECK(running.sink->ending() == "done");
    CHECK(running.sink->all_text() == "hi");
    CHECK(asked == 2);
    CHECK(count_of(bench.server.requests(), "stream_options") == 1);
  }
}

TEST_CASE("ModelTurn: a refusal that is not about images ends the turn, without another request") {
  const std::string refusals[] = {
      refusal("401 Unauthorized", "no image for this key"),
      refusal("402 Payment Required", "images cost more"), refusal("403 Forbidden", "images are not allowed"),
      refusal("400 Bad Request", "This model's maximum context length is 8192 tokens, with images.")};
  for (const std::string& answer : refusals) {
    CAPTURE(answer);
    std::atomic<int> asked{0};
    Bench bench([&](RawServer&, int connection) {
      RawServer::say(connection, asked++ == 0 ? calls_of_helper(1) : answer);
    });
    bench.settings.model.tools = {"helper"};
    auto running = bench.start();
    REQUIRE(running.sink->wait_until([](const auto& sink) { return sink.delegates().size() == 1; }));
    running.turn->deliver(result_of(running.sink->delegates()[0].id,
                                    {{task::Part::Kind::raw, "AAAA", "a.png", "image/png", {}}}));
    REQUIRE(running.sink->wait_finished());
    CHECK(running.sink->ending().starts_with("the model cannot answer: it answered with HTTP status 40"));
    CHECK(asked == 2);
  }
}

TEST_CASE("ModelTurn: a model that takes no images is known to the next turns, a bad image is not") {
  const std::pair<std::string, int> refusals[] = {
      {refusal("404 Not Found", "No endpoints found that support image input"), 1},
      {refusal("400 Bad Request", "Could not process image"), 2}};
  for (const auto& one : refusals) {
    const std::string& answer = one.first;
    CAPTURE(answer);
    std::atomic<int> asked{0};
    Bench bench([&](RawServer&, int connection) {
      const int nth = asked++;
      if (nth == 0 || nth == 3) return void(RawServer::say(connection, calls_of_helper(1)));
      RawServer::say(connection, nth == 1 ? answer : kHead + said("thanks") + kDone);
    });
    bench.settings.model.tools = {"helper"};
    for (int turn = 0; turn < 2; ++turn) {
      auto running = bench.start();
      REQUIRE(running.sink->wait_until([](const auto& sink) { return sink.delegates().size() == 1; }));
      running.turn->deliver(result_of(running.sink->delegates()[0].id,
                                      {{task::Part::Kind::raw, "AAAA", "a.png", "image/png", {}}}));
      REQUIRE(running.sink->wait_finished());
      CHECK(running.sink->all_text() == "thanks");
    }
    CHECK(asked == 5);
    CHECK(count_of(bench.server.requests(), "data:image/png;base64,AAAA") == one.second);
  }
}

TEST_CASE("ModelTurn: a cancel while it waits for a child or for a server ends it") {
  std::atomic<int> asked{0};
  Bench bench([&](RawServer&, int connection) {
    if (asked++ > 0) return void(RawServer::say(connection, "HTTP/1.1 429 Wait\r\nRetry-After: 5\r\n\r\n"));
    RawServer::say(connection,
                   std::string(kHead) +
                       R"(data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","type":"function",)"
                       R"("function":{"name":"helper","arguments":"{\"message\":\"go\"}"}}]},)"
                       R"("finish_reason":"tool_calls"}]})"
                       "\n\ndata: [DONE]\n\n");
  });
  bench.settings.model.tools = {"helper"};
  auto waiting = bench.start();
  REQUIRE(waiting.sink->wait_until([](const auto& sink) { return sink.delegates().size() == 1; }));
  waiting.turn->cancel();
  REQUIRE(waiting.sink->wait_finished());
  CHECK(waiting.sink->ending() == "canceled");

  auto pausing = bench.start();
  REQUIRE(pausing.sink->wait_until([](const auto& sink) { return !sink.events().empty(); }));
  pausing.turn->cancel();
  REQUIRE(pausing.sink->wait_finished());
  CHECK(pausing.sink->ending() == "canceled");
}

TEST_CASE("ModelTurn: long texts, in a stream or as a whole answer, are read in their order") {
  outbound::ByteBudget budget;  // outlives the turns
  const std::string text(200'000, 'y');
  std::atomic<int> asked{0};
  Bench bench([&](RawServer&, int connection) {
    if (asked++ == 0) {
      RawServer::say(connection, kHead + said("a ") + said(text) + said(" z") + kDone);
      return;
    }
    RawServer::say(connection, whole(text));
  });
  bench.rules.budget = &budget;
  for (const std::string& wanted : {"a " + text + " z", text}) {
    auto running = bench.start();
    REQUIRE(running.sink->wait_finished());
    CHECK(running.sink->ending() == "done");
    CHECK(running.sink->all_text() == wanted);
  }
  CHECK(budget.counts().bytes == 0);
}

TEST_CASE(
    "ModelTurn: a turn ends although its sink has no memory for what a stream, or a whole answer, says") {
  bool is_whole = false;
  Bench bench([&](RawServer&, int connection) {
    RawServer::say(connection, is_whole ? whole("hi") : kHead + said("hi") + kDone);
  });
  bench.settings.recovery = agents::AgentSettings::Recovery::fail;
  for (; !is_whole; is_whole = true) {
    const auto sink = std::make_shared<FullSink>();
    const auto turn = bench.executor().start(AgentBench::turn_of("hi"), sink);
    REQUIRE(sink->inner.wait_finished());
    CHECK(sink->inner.ending().starts_with("the model cannot answer: "));
  }
}

}  // namespace model_turn_test
