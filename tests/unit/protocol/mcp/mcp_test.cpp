#include "protocol/mcp/mcp.h"

#include <doctest/doctest.h>

#include <string>

namespace baton::protocol::mcp::mcp_test {
namespace {

const std::string kMeta = R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                          R"("io.modelcontextprotocol/clientCapabilities":{}})";

std::string modern(const std::string& method, const std::string& params = {}) {
  return R"({"jsonrpc":"2.0","id":7,"method":")" + method + R"(","params":{)" + params +
         (params.empty() ? "" : ",") + kMeta + "}}";
}

// "ok", or the number and the HTTP status of the refusal.
std::string outcome(const std::string& body, const Head& head) {
  const auto document = json::Document::parse_view(body);
  REQUIRE(document.has_value());
  const auto read = read_request(document->root(), head);
  if (read) return read->is_modern ? "modern" : "legacy";
  return std::to_string(read.error().failure.code) + " " + std::to_string(read.error().failure.status);
}

TEST_CASE("MCP: a modern request is taken if its headers and its body agree") {
  const std::string list = modern("tools/list"), call = modern("tools/call", R"("name":"a b")");
  CHECK(outcome(list, {"2026-07-28", "tools/list", ""}) == "modern");
  CHECK(outcome(call, {"2026-07-28", "tools/call", "a b"}) == "modern");
  CHECK(outcome(call, {"2026-07-28", "tools/call", "=?base64?YSBi?="}) == "modern");
  CHECK(outcome(list, {"", "tools/list", ""}) == "-32020 400");
  CHECK(outcome(list, {"2025-11-25", "tools/list", ""}) == "-32020 400");
  CHECK(outcome(list, {"2026-07-28", "tools/call", ""}) == "-32020 400");
  CHECK(outcome(call, {"2026-07-28", "tools/call", ""}) == "-32020 400");
  CHECK(outcome(call, {"2026-07-28", "tools/call", "b"}) == "-32020 400");
}

TEST_CASE("MCP: a modern request without its version, abilities or a known version is refused") {
  const Head head{"2026-07-28", "tools/list", ""};
  CHECK(outcome(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})", head) == "-32602 400");
  CHECK(outcome(R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{)"
                R"("io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})",
                head) == "-32602 400");
  CHECK(outcome(R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{)"
                R"("io.modelcontextprotocol/protocolVersion":"2099-01-01",)"
                R"("io.modelcontextprotocol/clientCapabilities":{}}}})",
                {"2099-01-01", "tools/list", ""}) == "-32022 400");
}

TEST_CASE("MCP: a request of an earlier revision needs no headers, and an unknown revision is refused") {
  const std::string body = R"({"jsonrpc":"2.0","id":"x","method":"tools/list"})";
  CHECK(outcome(body, {}) == "legacy");
  CHECK(outcome(body, {"2025-06-18", "", ""}) == "legacy");
  CHECK(outcome(body, {"1999-01-01", "", ""}) == "-32600 400");
  CHECK(outcome("[" + body + "]", {}) == "-32600 400");
  CHECK(outcome(R"({"jsonrpc":"2.0","id":null,"method":"ping"})", {}) == "-32600 400");
  CHECK(outcome(R"({"id":1,"method":"ping"})", {}) == "-32600 400");
  CHECK(agreed_version("2025-06-18") == "2025-06-18");
  CHECK(agreed_version("2026-07-28") == "2025-11-25");
}

TEST_CASE("MCP: arguments become a message, and wrong ones say what is wrong") {
  const auto read = [](std::string_view json) {
    const auto document = json::Document::parse_view(json);
    REQUIRE(document.has_value());
    return read_arguments(document->root());
  };
  const auto good = read(R"({"message":"hi","data":{"a":1},"files":[{"name":"f","mimeType":"text/csv",)"
                         R"("data":"YQ=="}],"contextId":"c","taskId":"t","requestId":"r"})");
  REQUIRE(good.has_value());
  CHECK(good->message.parts.size() == 3);
  CHECK(good->message.parts[2].kind == task::Part::Kind::raw);
  CHECK(good->message.id.value == "r");
  CHECK(good->context.value == "c");
  CHECK(good->task.value == "t");
  CHECK(read("{}").error().for_caller == "message: is missing; say what the agent is to do");
  CHECK(read(R"({"message":3})").error().for_caller == "message: must be a string");
  CHECK(read(R"({"message":"hi","files":{}})").error().for_caller == "files: must be a list");
  CHECK_FALSE(read(R"({"message":"hi","taskId":7})").has_value());
}

task::Task task_with(task::State state, std::vector<task::Part> parts) {
  task::Task task;
  task.id.value = "t";
  task.context.value = "c";
  task.status.state = state;
  task.status.message.emplace();
  task.status.message->id.value = "q";
  task.status.message->parts = std::move(parts);
  return task;
}

std::string result_of(const task::Task& task) {
  std::string text;
  json::Writer out(text);
  out.object([&] { write_tool_result(out, task, "http://h/agents/a"); });
  return text;
}

TEST_CASE("MCP: a result has texts, images and links, and says whether the task failed") {
  task::Task task = task_with(task::State::completed, {});
  task::Artifact artifact;
  artifact.id.value = "r 1";
  artifact.parts = {task::Part::of_text("words"),
                    {task::Part::Kind::raw, "YQ==", "p.png", "image/png", {}},
                    {task::Part::Kind::raw, "YQ==", "t.csv", "text/csv", {}},
                    {task::Part::Kind::raw, "YQ==", "x.svg", "image/svg+xml", {}}};
  task.artifacts = {artifact};
  const std::string text = result_of(task);
  CHECK(text.find(R"({"type":"text","text":"words"})") != std::string::npos);
  CHECK(text.find(R"({"type":"image","data":"YQ==","mimeType":"image/png"})") != std::string::npos);
  CHECK(text.find(R"("uri":"http://h/agents/a/tasks/t/artifacts/r%201/parts/2","name":"t.csv")") !=
        std::string::npos);
  CHECK(text.find(R"("uri":"http://h/agents/a/tasks/t/artifacts/r%201/parts/3")") != std::string::npos);
  CHECK(text.find("isError") == std::string::npos);
  const std::string failed = result_of(task_with(task::State::failed, {task::Part::of_text("no luck")}));
  CHECK(failed.find("no luck") != std::string::npos);
  CHECK(failed.find(R"("isError":true)") != std::string::npos);
}

struct Asked {
  std::string schema;  // of the question; empty: none
  std::string form;    // as the client is asked
  std::string content, answer;
};

TEST_CASE("MCP: a question is asked as a form of one level, and its answer is what the agent expects") {
  const std::string form = R"({"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]})";
  const Asked all[] = {
      {"", R"("properties":{"answer":{"type":"string","title":"Answer"}})", R"({"answer":"blue"})", "blue"},
      {form, form, R"({"n":3})", R"({"n":3})"},
      {R"({"type":"boolean"})", R"("properties":{"answer":{"type":"boolean"}})", R"({"answer":true})",
       "true"},
      {R"({"type":"array","items":{"type":"string"}})",
       R"("description":"JSON that fits the schema {\"type\":\"array\")", R"({"answer":"[\"a\"]"})",
       R"(["a"])"},
  };
  for (const Asked& one : all) {
    CAPTURE(one.schema);
    std::vector<task::Part> parts{task::Part::of_text("What?")};
    if (!one.schema.empty()) parts.push_back(task::Part::of_data({R"({"schema":)" + one.schema + "}"}));
    const task::Task task = task_with(task::State::input_required, parts);
    CHECK(can_ask(task.status, {true, true, false}));
    CHECK_FALSE(can_ask(task.status, {true, false, false}));
    std::string text;
    json::Writer out(text);
    out.object([&] { write_input_requests(out, task.status); });
    CHECK(text.find(one.form) != std::string::npos);
    const std::string responses = R"({"q":{"action":"accept","content":)" + one.content + "}}";
    const auto document = json::Document::parse_view(responses);
    REQUIRE(document.has_value());
    const auto answer = read_input_response(document->root(), task.status);
    REQUIRE(answer.has_value());
    REQUIRE(answer->has_value());
    CHECK((*answer)->parts.front().content == one.answer);
  }
}

TEST_CASE("MCP: a declined question is told as cancelled, and answers to other questions are none") {
  const task::Task task = task_with(task::State::input_required, {task::Part::of_text("What?")});
  const auto read = [&](std::string_view json) {
    const auto document = json::Document::parse_view(json);
    REQUIRE(document.has_value());
    return read_input_response(document->root(), task.status);
  };
  CHECK((**read(R"({"q":{"action":"decline"}})")).parts.front().content == R"({"cancelled":true})");
  CHECK_FALSE(read(R"({"other":{"action":"decline"}})")->has_value());
  CHECK_FALSE(read(R"({"q":{"action":"maybe"}})").has_value());
  CHECK_FALSE(read(R"({"q":{"action":"accept"}})").has_value());
}

TEST_CASE("MCP: the state of a request comes back whole, or is refused") {
  const std::string state = make_request_state({"task"}, "key.3");
  const auto read = read_request_state(state);
  REQUIRE(read.has_value());
  CHECK(read->task.value == "task");
  CHECK(read->key == "key.3");
  CHECK_FALSE(read_request_state(make_request_state({"task"}, "key.3") + "x").has_value());
  CHECK_FALSE(read_request_state("bm9uc2Vuc2U=").has_value());
  CHECK_FALSE(read_request_state("").has_value());
}

}  // namespace
}  // namespace baton::protocol::mcp::mcp_test
