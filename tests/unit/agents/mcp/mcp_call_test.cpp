#include "agents/mcp/mcp_call.h"

#include <doctest/doctest.h>

#include <future>
#include <optional>
#include <string>
#include <vector>

#include "unit/agents/mcp/scripted_mcp.h"

namespace baton::agents::mcp_call_test {
namespace {

using test::http_answer;
using test::ScriptedMcp;
using Kind = McpCallEnd::Kind;
using Methods = std::vector<std::string>;

struct Came {
  McpCallEnd end;
  std::string result;
};

// Makes the request and waits for its end.
Came call(ScriptedMcp& mcp, const std::shared_ptr<const McpServers>& servers, std::string method,
          bool may_repeat = false, std::chrono::milliseconds time = test::patience()) {
  auto result = std::make_shared<std::string>();
  std::promise<McpCallEnd> ended;
  std::optional<McpCall> running;
  mcp.loop().post([&] {
    running.emplace(
        servers->all[0], McpRequest{{std::move(method)}, may_repeat, time},
        [result](json::Value value) { *result = value.raw(); },
        [&](const McpCallEnd& end) { ended.set_value(end); });
    running->start();
  });
  const McpCallEnd end = ended.get_future().get();
  std::promise<void> gone;
  mcp.loop().post([&] {
    running.reset();
    gone.set_value();
  });
  gone.get_future().wait();
  return {end, *result};
}

ScriptedMcp::Answer stream(const std::string& events_before, const std::string& result) {
  return [=](const std::string& id) {
    return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + events_before +
           R"(data: {"jsonrpc":"2.0","id":)" + id + R"(,"result":)" + result + "}\n\n";
  };
}

}  // namespace

TEST_CASE("McpCall: a modern server is found out once, and answers with JSON or a stream") {
  ScriptedMcp mcp;
  mcp.be_modern();
  mcp.on("tools/list",
         {ScriptedMcp::result(R"({"tools":[]})"),
          stream("id: 1\ndata: \n\ndata: {\"method\":\"notifications/progress\"}\n\n", R"({"a":1})")});
  const auto servers = mcp.servers();
  CHECK(call(mcp, servers, "tools/list").result == R"({"tools":[]})");
  CHECK(call(mcp, servers, "tools/list").result == R"({"a":1})");
  CHECK(mcp.methods() == Methods{"server/discover", "tools/list", "tools/list"});
  CHECK(mcp.requests().find("Mcp-Method: tools/list") != std::string::npos);
}

TEST_CASE("McpCall: a legacy server is initialized, and again when it has forgotten the session") {
  ScriptedMcp mcp;
  const auto welcome = [](const std::string& session) {
    return [=](const std::string& id) {
      return http_answer("200 OK",
                         R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{"protocolVersion":"2025-06-18"}})",
                         "Mcp-Session-Id: " + session + "\r\n");
    };
  };
  mcp.on("initialize", {welcome("s1"), welcome("s2")});
  mcp.on("notifications/initialized",
         {ScriptedMcp::raw("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")});
  mcp.on("tools/call", {ScriptedMcp::result("{}"), ScriptedMcp::raw(http_answer("404 Not Found", "")),
                        stream("", R"({"b":2})")});
  const auto servers = mcp.servers();
  CHECK(call(mcp, servers, "tools/call").end.kind == Kind::answered);
  CHECK(mcp.methods() == Methods{"server/discover", "initialize", "notifications/initialized", "tools/call"});
  CHECK(call(mcp, servers, "tools/call").result == R"({"b":2})");
  CHECK(mcp.methods().size() == 9);
  CHECK(mcp.requests().find("Mcp-Session-Id: s2") != std::string::npos);
  CHECK(mcp.requests().find("MCP-Protocol-Version: 2025-06-18") != std::string::npos);
  // A server that forgets every session is not asked for ever.
  mcp.on("tools/call", {ScriptedMcp::raw(http_answer("404 Not Found", ""))});
  CHECK(call(mcp, servers, "tools/call").end.kind == Kind::refused);
}

TEST_CASE("McpCall: a server that fails over server/discover, or never answers it, is initialized") {
  for (const auto& answer :
       {ScriptedMcp::raw(http_answer("500 Internal Server Error", "{}")), ScriptedMcp::silence()}) {
    ScriptedMcp mcp;
    mcp.on("server/discover", {answer});
    mcp.on("initialize", {ScriptedMcp::result(R"({"protocolVersion":"2025-06-18"})")});
    mcp.on("tools/list", {ScriptedMcp::result(R"({"tools":[]})")});
    auto impatient = std::make_shared<McpServer>(*mcp.servers()->all[0]);
    impatient->discover_max = std::chrono::milliseconds(50);
    const auto servers = std::make_shared<McpServers>();
    servers->all.push_back(impatient);
    const Came came = call(mcp, servers, "tools/list");
    CHECK(came.end.text == "");
    CHECK(came.result == R"({"tools":[]})");
  }
}

TEST_CASE("McpCall: a session is also forgotten if a 400 with another code or a bare 401 says so") {
  ScriptedMcp mcp;
  const auto servers = mcp.servers();
  const auto outcome = [&](const std::string& status, const std::string& body, const std::string& head = {}) {
    servers->all[0]->spoken = protocol::mcp::Spoken{"2025-06-18", "s1"};
    mcp.on("initialize", {ScriptedMcp::result(R"({"protocolVersion":"2025-06-18"})")});
    mcp.on("tools/call", {ScriptedMcp::raw(http_answer(status, body, head)), ScriptedMcp::result("{}")});
    return call(mcp, servers, "tools/call").end.kind;
  };
  const auto error = [](const std::string& code) {
    return R"({"jsonrpc":"2.0","error":{"code":)" + code + R"(,"message":"no session"},"id":null})";
  };
  CHECK(outcome("400 Bad Request", error("-32000")) == Kind::answered);
  CHECK(outcome("401 Unauthorized", "Unauthorized: Session not found") == Kind::answered);
  CHECK(outcome("400 Bad Request", error("-32602")) == Kind::refused);
  CHECK(outcome("401 Unauthorized", "", "WWW-Authenticate: Bearer\r\n") == Kind::refused);
}

TEST_CASE("McpCall: a forgotten session that another call has replaced meanwhile is not replaced again") {
  ScriptedMcp mcp;
  const auto servers = mcp.servers();
  const auto speak_in = [&](const std::string& session) {
    servers->all[0]->spoken = protocol::mcp::Spoken{"2025-06-18", session};
  };
  speak_in("s1");
  mcp.on("tools/call", {[&](const std::string&) {
                          std::promise<void> replaced;
                          mcp.loop().post([&] {
                            speak_in("s2");
                            replaced.set_value();
                          });
                          replaced.get_future().wait();
                          return http_answer("404 Not Found", "");
                        },
                        ScriptedMcp::result(R"({"b":2})")});
  CHECK(call(mcp, servers, "tools/call").result == R"({"b":2})");
  CHECK(mcp.methods() == Methods{"tools/call", "tools/call"});
  CHECK(mcp.requests().find("Mcp-Session-Id: s2") != std::string::npos);
}

TEST_CASE("McpCall: errors and refusals end it with the server's words") {
  ScriptedMcp mcp;
  mcp.be_modern();
  const auto servers = mcp.servers();
  mcp.on("tools/call", {[](const std::string& id) {
           return http_answer("200 OK",
                              R"({"id":)" + id + R"(,"error":{"code":-32602,"message":"no such tool"}})");
         }});
  Came came = call(mcp, servers, "tools/call");
  CHECK(came.end.kind == Kind::refused);
  CHECK(came.end.text == "no such tool");
  mcp.on("tools/call", {ScriptedMcp::raw(http_answer("401 Unauthorized", "who are you"))});
  CHECK(call(mcp, servers, "tools/call").end.text.find("401") != std::string::npos);
  mcp.on("tools/call", {ScriptedMcp::raw(http_answer("200 OK", "hello"))});
  CHECK(call(mcp, servers, "tools/call").end.kind == Kind::unknown);
}

TEST_CASE("McpCall: what may have arrived is sent again only if it may be repeated") {
  ScriptedMcp mcp;
  mcp.be_modern();
  const auto servers = mcp.servers();
  const auto lost = ScriptedMcp::raw("");
  mcp.on("tools/call", {lost, ScriptedMcp::result("{}")});
  CHECK(call(mcp, servers, "tools/call").end.kind == Kind::unknown);
  mcp.on("tools/call", {lost, ScriptedMcp::result(R"({"c":3})")});
  CHECK(call(mcp, servers, "tools/call", true).result == R"({"c":3})");
  mcp.on("tools/call", {ScriptedMcp::raw(http_answer("503 Wait", "")), ScriptedMcp::result(R"({"d":4})")});
  const Came busy = call(mcp, servers, "tools/call", true);
  CHECK(busy.result == R"({"d":4})");
}

TEST_CASE("McpCall: an answer over the card's bound is refused, and a long one is read") {
  ScriptedMcp mcp;
  mcp.be_modern();
  outbound::Rules rules;
  rules.policy.allow_private = true;
  AgentSettings settings = mcp.settings();
  settings.line_max = 400'000;
  auto servers = mcp.servers();
  auto bounded = std::make_shared<McpServer>(*servers->all[0]);
  bounded->answer_max = 400'000;
  auto own = std::make_shared<McpServers>();
  own->all.push_back(bounded);
  mcp.on("tools/call", {ScriptedMcp::result("{\"x\":\"" + std::string(300'000, 'x') + "\"}"),
                        ScriptedMcp::result("{\"x\":\"" + std::string(500'000, 'x') + "\"}")});
  CHECK(call(mcp, own, "tools/call").result.size() == 300'008);
  const Came came = call(mcp, own, "tools/call");
  CHECK(came.end.kind == Kind::refused);
  CHECK(came.end.text == "its answer is too large");
}

}  // namespace baton::agents::mcp_call_test
