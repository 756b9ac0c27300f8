#include "agents/mcp/mcp_turn.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/agent_bench.h"
#include "support/recording_sink.h"
#include "unit/agents/mcp/scripted_mcp.h"

namespace baton::agents::mcp_turn_test {
namespace {

using test::ScriptedMcp;
using Methods = std::vector<std::string>;

// Turns of one call of the tool `t`.
struct Bench {
  Bench() { mcp.be_modern(); }

  Turn turn(bool may_repeat = false) {
    servers = mcp.servers();
    const McpToolCall call{"probe",       servers->all[0]->settings.server.url, "t", may_repeat, {},
                           {R"({"a":1})"}};
    Turn turn = test::AgentBench::turn_of("");
    turn.agent = {kToolAgent};
    turn.message = message_of(call);
    return turn;
  }
  std::shared_ptr<test::RecordingSink> run(Turn turn) {
    test::RunningTest running;
    running.turn = executor->start(std::move(turn), running.sink);
    REQUIRE(running.sink->wait_finished());
    return running.sink;
  }

  ScriptedMcp mcp;
  std::shared_ptr<const McpServers> servers;
  base::SystemClock clock;
  std::unique_ptr<Executor> executor = tool_executor(mcp.agents, mcp.loop(), clock);
};

std::string said(const test::RecordingSink& sink) {
  const auto* done = sink.outcome_as<Done>();
  return done != nullptr && done->message ? task::text_of(*done->message) : sink.ending();
}

std::string kept(const test::RecordingSink& sink) {
  for (const task::EventBody& event : sink.events()) {
    if (const auto* state = std::get_if<task::ExecutorState>(&event)) return state->state.text;
  }
  return {};
}

}  // namespace

TEST_CASE("McpTurn: the tool is called with the model's arguments, and its answer is the task's") {
  Bench bench;
  bench.mcp.on("tools/call",
               {ScriptedMcp::result(R"({"content":[{"type":"text","text":"fine"}]})"),
                ScriptedMcp::result(R"({"content":[{"type":"text","text":"bad"}],"isError":true})")});
  CHECK(said(*bench.run(bench.turn())) == "fine");
  CHECK(bench.mcp.requests().find(R"("params":{"name":"t","arguments":{"a":1},)") != std::string::npos);
  CHECK(said(*bench.run(bench.turn())) == "bad");
}

TEST_CASE("McpTurn: after a crash the call is made again only if that does no harm") {
  Bench bench;
  bench.mcp.on("tools/call", {ScriptedMcp::result(R"({"content":[{"type":"text","text":"fine"}]})")});
  Turn second = bench.turn();
  second.attempt = 2;
  CHECK(said(*bench.run(second)).starts_with("the outcome of the call is unknown"));
  CHECK(bench.mcp.methods().empty());
  second = bench.turn(true);
  second.attempt = 2;
  CHECK(said(*bench.run(second)) == "fine");
}

TEST_CASE("McpTurn: a call that becomes a task is a stored wait, and each later turn looks at it once") {
  Bench bench;
  bench.mcp.on("tools/call",
               {ScriptedMcp::result(R"({"resultType":"task","taskId":"t1","pollIntervalMs":700})")});
  bench.mcp.on("tasks/get",
               {ScriptedMcp::result(R"({"resultType":"complete","status":"working"})"),
                ScriptedMcp::result(
                    R"({"status":"completed","result":{"content":[{"type":"text","text":"long"}]}})")});
  const auto begun = bench.run(bench.turn());
  REQUIRE(begun->outcome_as<Waits>() != nullptr);
  CHECK(begun->outcome_as<Waits>()->until.has_value());
  Turn later = bench.turn();
  later.kept.text = kept(*begun);
  later.attempt = 2;  // a crash does not matter
  CHECK(bench.run(later)->outcome_as<Waits>() != nullptr);
  CHECK(said(*bench.run(later)) == "long");
  CHECK(bench.mcp.requests().find("Mcp-Name: t1") != std::string::npos);
  int calls = 0;
  for (const std::string& method : bench.mcp.methods()) calls += method == "tools/call" ? 1 : 0;
  CHECK(calls == 1);
}

TEST_CASE("McpTurn: a question is the task's, and its answer goes back with the server's state") {
  Bench bench;
  const std::string asks =
      R"("inputRequests":{"k":{"method":"elicitation/create","params":{"message":"sure?","requestedSchema":)"
      R"({"type":"object","properties":{"sure":{"type":"boolean"}}}}}})";
  bench.mcp.on("tools/call",
               {ScriptedMcp::result(R"({"resultType":"input_required","requestState":"s",)" + asks + "}"),
                ScriptedMcp::result(R"({"content":[{"type":"text","text":"sold"}]})")});
  const auto asked = bench.run(bench.turn());
  const auto* question = asked->outcome_as<Asked>();
  REQUIRE(question != nullptr);
  CHECK(task::text_of(question->message) == "sure?");
  REQUIRE(question->message.parts.size() == 2);
  CHECK(question->message.parts[1].content.starts_with(R"({"schema":)"));
  Turn answered = bench.turn();
  answered.request = std::exchange(answered.message, {});
  answered.message.parts.push_back(task::Part::of_data({R"({"sure":true})"}));
  answered.history.push_back(question->message);
  answered.resume_ask = question->id;
  CHECK(said(*bench.run(answered)) == "sold");
  CHECK(bench.mcp.requests().find(
            R"("inputResponses":{"k":{"action":"accept","content":{"sure":true}}},"requestState":"s")") !=
        std::string::npos);
}

TEST_CASE("McpTurn: a turn that begins canceled cancels the server's task, and ends without one") {
  Bench bench;
  bench.mcp.on("tasks/cancel", {ScriptedMcp::result("{}")});
  Turn canceled = bench.turn();
  canceled.canceled = true;
  CHECK(bench.run(canceled)->ending() == "canceled");
  CHECK(bench.mcp.requests().find("tasks/cancel") == std::string::npos);
  canceled = bench.turn();
  canceled.canceled = true;
  canceled.kept.text = R"({"task":"t1"})";
  CHECK(bench.run(canceled)->ending() == "canceled");
  const std::string requests = bench.mcp.requests();
  CHECK(requests.find("tasks/cancel") != std::string::npos);
  CHECK(requests.find(R"("taskId":"t1")") != std::string::npos);
  CHECK(requests.find("tools/call") == std::string::npos);
}

TEST_CASE("McpTurn: a task of the server asks, is answered, and is canceled with the turn") {
  Bench bench;
  bench.mcp.on("tasks/get",
               {ScriptedMcp::result(
                    R"({"status":"input_required","inputRequests":{"k":{"method":"elicitation/create",)"
                    R"("params":{"mode":"url","message":"log in","url":"https://h/in"}}}})"),
                ScriptedMcp::result(R"({"status":"cancelled"})")});
  bench.mcp.on("tasks/update", {ScriptedMcp::result("{}")});
  Turn waiting = bench.turn();
  waiting.kept.text = R"({"task":"t1"})";
  const auto asked = bench.run(waiting);
  const auto* question = asked->outcome_as<Asked>();
  REQUIRE(question != nullptr);
  CHECK(question->for_auth);
  Turn answered = bench.turn();
  answered.request = answered.message;
  answered.message.parts = {task::Part::of_text("done")};
  answered.history.push_back(question->message);
  answered.resume_ask = question->id;
  const auto sink = bench.run(answered);
  CHECK(said(*sink) == "the tool's server has canceled the call");
  CHECK(kept(*sink) == R"({"task":"t1"})");
  CHECK(bench.mcp.requests().find(R"("inputResponses":{"k":{"action":"accept"}})") != std::string::npos);
}

TEST_CASE("McpTurn: a message that is no call, and a server that the card no longer has, fail the task") {
  Bench bench;
  Turn other = bench.turn();
  other.message.parts = {task::Part::of_text("call t")};
  CHECK(said(*bench.run(other)) == "the message is not a call of a tool");
  Turn gone = bench.turn();
  gone.message = message_of({"probe", "http://127.0.0.1:1/mcp", "t", false, {}, {"{}"}});
  CHECK(said(*bench.run(gone)) == "the card no longer has the tool's server");
}

}  // namespace baton::agents::mcp_turn_test
