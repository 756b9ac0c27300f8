#include "protocol/mcp/mcp.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

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
  CHECK(outcome(modern("tasks/list"), {"2026-07-28", "tasks/list", ""}) == "modern");
  CHECK(outcome(modern("tasks/get", R"("taskId":"t")"), {"2026-07-28", "tasks/get", ""}) == "-32020 400");
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

TEST_CASE("MCP: a modern notification needs no more than its header") {
  const std::string left = R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})";
  CHECK(outcome(left, {"2026-07-28", "", ""}) == "modern");
  CHECK(outcome(left, {"2099-01-01", "", ""}) == "-32600 400");
}

TEST_CASE("MCP: a request of an earlier revision needs no headers, and an unknown revision is refused") {
  const std::string body = R"({"jsonrpc":"2.0","id":"x","method":"tools/list"})";
  CHECK(outcome(body, {}) == "legacy");
  CHECK(outcome(body, {"2025-06-18", "", ""}) == "legacy");
  CHECK(outcome(body, {"1999-01-01", "", ""}) == "-32600 400");
  CHECK(outcome("[" + body + "]", {}) == "-32600 400");
  CHECK(outcome(R"({"jsonrpc":"2.0","id":null,"method":"ping"})", {}) == "-32600 400");
  CHECK(outcome(R"({"id":1,"method":"ping"})", {}) == "-32600 400");
  for (const std::string& id : {std::string("1.5"), std::string("true"), std::string("[1]"),
                                std::string("{\"a\":\n1}"), "\"" + std::string(2'000, 'x') + "\""}) {
    CAPTURE(id);
    CHECK(outcome(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"ping"})", {}) == "-32600 400");
  }
  // A response has an id of this server.
  CHECK(outcome(R"({"jsonrpc":"2.0","id":")" + std::string(2'000, 'x') + R"(","result":{}})", {}) ==
        "legacy");
  CHECK(agreed_version("2025-06-18") == "2025-06-18");
  CHECK(agreed_version("2026-07-28") == "2025-11-25");
}

TEST_CASE("MCP: an empty list is an empty object, because clients in PHP write it like this") {
  const auto list = [](const std::string& params) {
    return R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":)" + params + "}";
  };
  CHECK(outcome(list("[]"), {}) == "legacy");
  CHECK(outcome(list(R"({"_meta":[]})"), {}) == "legacy");
  CHECK(outcome(list(R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                     R"("io.modelcontextprotocol/clientCapabilities":[]}})"),
                {"2026-07-28", "tools/list", ""}) == "modern");
  CHECK(outcome(list("[1]"), {}) == "-32602 400");
  CHECK(outcome(list("7"), {}) == "-32602 400");
}

TEST_CASE("MCP: initialize is negotiated also if its header names a version that is not known here") {
  // Java's SDK and Hermes Agent send the header with the newest version that they know.
  const std::string begin =
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2099-01-01"}})";
  CHECK(outcome(begin, {"2099-01-01", "", ""}) == "legacy");
  CHECK(outcome(begin, {"2026-07-28", "", ""}) == "legacy");
  CHECK(outcome(R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})", {"2099-01-01", "", ""}) == "-32600 400");
  CHECK(outcome(modern("initialize"), {"2026-07-28", "initialize", ""}) == "modern");
  CHECK(outcome(modern("initialize"), {"", "initialize", ""}) == "-32020 400");
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
  CHECK(good->message.parts[1].content == R"({"a":1})");
  CHECK(read(R"({"message":"hi","data":null,"files":null,"taskId":null})")->message.parts.size() == 1);
  CHECK(read(R"({"taskId":"t"})")->message.parts.empty());
  CHECK(read("{}").error().for_caller == "message: is missing; say what the agent is to do");
  CHECK(read("[]").error().for_caller == read("{}").error().for_caller);
  CHECK(read("[1]").error().for_caller == "arguments: must be an object");
  CHECK(read(R"({"message":3})").error().for_caller == "message: must be a string");
  CHECK(read(R"({"message":"hi","files":{}})").error().for_caller == "files: must be a list");
  CHECK_FALSE(read(R"({"message":"hi","taskId":7})").has_value());
}

TEST_CASE("MCP: a text that is an object or a list as JSON is that, as Claude's clients send it") {
  const auto document = json::Document::parse_view(
      R"({"message":"[1]","data":"{\"a\": 1}","files":"[{\"name\":\"f\",\"data\":\"YQ==\"}]",)"
      R"("x":"7","y":"[1"})");
  REQUIRE(document.has_value());
  const auto read = read_arguments(document->root());
  REQUIRE(read.has_value());
  REQUIRE(read->message.parts.size() == 3);
  CHECK(read->message.parts[0] == task::Part::of_text("[1]"));
  CHECK(read->message.parts[1].content == R"({"a": 1})");
  CHECK(read->message.parts[2].filename == "f");
  CHECK(unquoted(document->root()) ==
        R"({"message":[1],"data":{"a": 1},"files":[{"name":"f","data":"YQ=="}],"x":"7","y":"[1"})");
  const auto words = json::Document::parse_view(R"({"data":"7"})");
  REQUIRE(words.has_value());
  CHECK(read_arguments(words->root())->message.parts.at(0).content == R"("7")");
}

// The first keyword, at any depth, that Gemini's API does not know; empty: there is none.
std::string unknown_keyword_in(json::Value schema) {
  constexpr std::array<std::string_view, 4> kKnown{"type", "description", "properties", "items"};
  for (const json::Value keyword : schema) {
    if (std::ranges::count(kKnown, keyword.key()) == 0) return std::string(keyword.key());
  }
  std::string inner = schema["items"].is_object() ? unknown_keyword_in(schema["items"]) : std::string();
  for (const json::Value property : schema["properties"]) inner += unknown_keyword_in(property);
  return inner;
}

// The first property, at any depth, without exactly one type; empty: there is none.
std::string untyped_in(json::Value schema) {
  for (const json::Value property : schema["properties"]) {
    const json::Value items = property["items"];
    const bool is_list = property["type"].string() == "array";
    if (!property["type"].is_string() || (is_list && !items["type"].is_string()))
      return std::string(property.key());
    std::string inner = untyped_in(property) + untyped_in(items);
    if (!inner.empty()) return inner;
  }
  return {};
}

TEST_CASE("MCP: every argument has one type and no keyword that Gemini does not take") {
  std::string schema;
  json::Writer out(schema);
  write_input_schema(out);
  const auto document = json::Document::parse_view(schema);
  REQUIRE(document.has_value());
  CHECK(document->root()["type"].string() == "object");
  CHECK(document->root()["properties"].size() == 6);
  CHECK(untyped_in(document->root()).empty());
  CHECK(unknown_keyword_in(document->root()) == "");
  const auto list = json::Document::parse_view(R"({"data":[1]})");
  REQUIRE(list.has_value());
  CHECK(read_arguments(list->root())->message.parts.at(0).content == "[1]");
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
                    {task::Part::Kind::raw, "YQ==", "t.zip", "application/zip", {}},
                    {task::Part::Kind::raw, "YQ==", "t.csv", "text/csv", {}},
                    {task::Part::Kind::raw, "/w==", "t.txt", "text/plain", {}},
                    {task::Part::Kind::raw, "PHN2Zz4=", "x.svg", "image/svg+xml", {}}};
  task.artifacts = {artifact};
  const std::string text = result_of(task);
  CHECK(text.find(R"({"type":"text","text":"words"})") != std::string::npos);
  CHECK(text.find(R"({"type":"image","data":"YQ==","mimeType":"image/png"})") != std::string::npos);
  CHECK(text.find(R"("uri":"http://h/agents/a/tasks/t/artifacts/r%201/parts/2","name":"t.zip")") !=
        std::string::npos);
  CHECK(text.find(R"(parts/3","mimeType":"text/csv","text":"a","_meta":{"filename":"t.csv"}})") !=
        std::string::npos);
  CHECK(text.find(R"(parts/4","name":"t.txt")") != std::string::npos);  // its bytes are no text
  CHECK(text.find(R"(parts/5","mimeType":"image/svg+xml","text":"<svg>")") != std::string::npos);
  CHECK(text.find("isError") == std::string::npos);
  const std::string said = result_of(
      task_with(task::State::completed, {{task::Part::Kind::raw, "YQ==", "t.zip", "application/zip", {}}}));
  CHECK(said.find(R"("uri":"http://h/agents/a/tasks/t/messages/q/parts/0","name":"t.zip")") !=
        std::string::npos);
  const std::string failed = result_of(task_with(task::State::failed, {task::Part::of_text("no luck")}));
  CHECK(failed.find("no luck") != std::string::npos);
  CHECK(failed.find(R"("isError":true)") != std::string::npos);
}

TEST_CASE("MCP: a link is a text for a client whose revision has no links") {
  const task::Task task =
      task_with(task::State::completed, {{task::Part::Kind::raw, "YQ==", "t.zip", "application/zip", {}},
                                         {task::Part::Kind::url, "https://h/f", "", "", {}}});
  std::string text;
  json::Writer out(text);
  out.object([&] { write_tool_result(out, task, "http://h/agents/a", false); });
  CHECK(text.find("resource_link") == std::string::npos);
  CHECK(text.find(R"({"type":"text","text":"t.zip: http://h/agents/a/tasks/t/messages/q/parts/0"})") !=
        std::string::npos);
  CHECK(text.find(R"({"type":"text","text":"https://h/f"})") != std::string::npos);
  const auto reads_links = [](std::string_view version) {
    const auto list = json::Document::view_of(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
    return read_request(list.root(), {version, "", ""})->client.links;
  };
  CHECK(reads_links(""));
  CHECK(reads_links("2025-06-18"));
  CHECK_FALSE(reads_links("2025-03-26"));
}

TEST_CASE("MCP: a result with an image has no structuredContent, which Claude Code and Codex show instead") {
  const task::Part words = task::Part::of_text("words");
  CHECK(result_of(task_with(task::State::completed, {words}))
            .ends_with(R"("structuredContent":{"state":"completed","text":"words","taskId":"t",)"
                       R"("contextId":"c"}})"));
  for (const char* type : {"image/png", "audio/wav"}) {
    CAPTURE(type);
    const task::Part file{task::Part::Kind::raw, "YQ==", "p", type, {}};
    const std::string text = result_of(task_with(task::State::completed, {words, file}));
    CHECK(text.find("structuredContent") == std::string::npos);
    CHECK(text.ends_with(
        R"({"type":"text","text":"{\"state\":\"completed\",\"taskId\":\"t\",\"contextId\":\"c\"}"}]})"));
  }
}

TEST_CASE("MCP: the last text of a result has the ids, since many hosts show a model only the content") {
  const auto last_text = [](task::State state, std::vector<task::Part> parts) {
    const std::string result = result_of(task_with(state, std::move(parts)));
    const auto document = json::Document::parse_view(result);
    REQUIRE(document.has_value());
    std::string text;
    for (const json::Value one : document->root()["content"]) text = one["text"].str();
    return text;
  };
  const task::Part words = task::Part::of_text("words");
  CHECK(last_text(task::State::completed, {words}) ==
        R"({"state":"completed","taskId":"t","contextId":"c"})");
  CHECK(last_text(task::State::failed, {words}) == R"({"state":"failed","taskId":"t","contextId":"c"})");
  CHECK(last_text(task::State::working, {}) == R"({"state":"working","taskId":"t","contextId":"c"})");
  const task::Part schema = task::Part::of_data({R"({"schema":{"type":"string"}})"});
  CHECK(last_text(task::State::input_required, {words, schema}) ==
        R"({"state":"input-required","schema":{"type":"string"},"taskId":"t","contextId":"c"})");
}

TEST_CASE("MCP: the structuredContent of a result names its files, and has the text of those that are text") {
  task::Task task = task_with(task::State::completed, {});
  task::Artifact artifact;
  artifact.id.value = "r";
  artifact.parts = {{task::Part::Kind::raw, "UEsDBA==", "t.zip", "application/zip", {}},
                    {task::Part::Kind::raw, "YQ==", "t.csv", "text/csv", {}},
                    {task::Part::Kind::url, "http://h/f", "f", "text/csv", {}}};
  task.artifacts = {artifact};
  const std::string text = result_of(task);
  const auto files = text.find(R"("files":[{"name":"t.zip","mimeType":"application/zip","uri":"http)");
  CHECK(files != std::string::npos);
  CHECK(text.find(R"(,"text":"a"})", files) != std::string::npos);
  CHECK(text.find(R"({"name":"f","mimeType":"text/csv","uri":"http://h/f"}])", files) != std::string::npos);
}

TEST_CASE("MCP: a message is shown without the parts that repeat the reply") {
  task::Task task =
      task_with(task::State::completed, {task::Part::of_text("reply"), task::Part::of_text("note"),
                                         task::Part::of_text("more"), task::Part::of_data({R"({"n":1})"})});
  task.status.reply_parts = 1;
  task::Artifact artifact;
  artifact.id.value = "r";
  artifact.parts = {task::Part::of_text("re"), task::Part::of_text("note")};
  task.artifacts = {artifact};
  CHECK(result_of(task).find(R"("text":"re\nnote\nmore","data":[{"n":1}])") != std::string::npos);
}

}  // namespace
}  // namespace baton::protocol::mcp::mcp_test
