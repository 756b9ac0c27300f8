#include "protocol/mcp/client/words.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "json/document.h"

namespace baton::protocol::mcp::client_words_test {
namespace {

using Kind = CallResult::Kind;

std::string header(const Headers& headers, std::string_view name) {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return "none";
}

CallResult called(const std::string& result) {
  return read_call(json::Document::view_of(result).root());
}
CallResult looked(const std::string& result) {
  return read_task(json::Document::view_of(result).root());
}

task::Message words(std::string text) {
  task::Message message;
  message.parts.push_back(task::Part::of_text(std::move(text)));
  return message;
}
task::Message data(std::string text) {
  task::Message message;
  message.parts.push_back(task::Part::of_data({std::move(text)}));
  return message;
}

}  // namespace

TEST_CASE("mcp client: a modern request says its version, its method and its tool in body and headers") {
  const Asking call{"tools/call", {R"({"name":"größe","arguments":{}})"}, "größe", {{"Mcp-Param-X", "1"}}};
  const Spoken modern;
  const std::string body = write_request(call, modern, 3);
  CHECK(body.starts_with(
      R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"größe","arguments":{},"_meta":{)"
      R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"));
  CHECK(body.find(R"("extensions":{"io.modelcontextprotocol/tasks":{}})") != std::string::npos);
  const Headers headers = headers_of(call, modern);
  CHECK(header(headers, "MCP-Protocol-Version") == "2026-07-28");
  CHECK(header(headers, "Mcp-Method") == "tools/call");
  CHECK(header(headers, "Mcp-Name") == "=?base64?Z3LDtsOfZQ==?=");
  CHECK(header(headers, "Mcp-Param-X") == "1");
}

TEST_CASE("mcp client: a legacy request has the session and no metadata, and initialize has no version") {
  const Spoken legacy{"2025-06-18", "s1"};
  const Asking list{"tools/list"};
  CHECK(write_request(list, legacy, 1) == R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
  CHECK(write_request({"notifications/initialized"}, legacy, 0) ==
        R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  CHECK(header(headers_of(list, legacy), "MCP-Protocol-Version") == "2025-06-18");
  CHECK(header(headers_of(list, legacy), "Mcp-Session-Id") == "s1");
  CHECK(header(headers_of(list, legacy), "Mcp-Method") == "none");
  CHECK(header(headers_of(initialize(), {"", ""}), "MCP-Protocol-Version") == "none");
  CHECK(write_request(initialize(), {"", ""}, 1).find(R"("protocolVersion":"2025-11-25")") !=
        std::string::npos);
  const auto chosen = [](const std::string& version) {
    const std::string text = R"({"protocolVersion":")" + version + R"("})";
    return chosen_version(json::Document::view_of(text).root());
  };
  CHECK(chosen("2025-06-18") == "2025-06-18");
  CHECK(chosen("2024-11-05") == "2024-11-05");
  CHECK(chosen("2026-07-28").empty());
  CHECK(chosen("2099-01-01").empty());
}

TEST_CASE("mcp client: only the response to the request is one, and an error without an id is") {
  const auto read = [](const std::string& text) {
    const auto document = json::Document::view_of(text);
    const auto response = read_response(document.root(), 2);
    if (!response) return std::string("other");
    return response->result.missing() ? response->failure.text : std::string(response->result.raw());
  };
  CHECK(read(R"({"id":2,"result":{}})") == "{}");
  CHECK(read(R"({"id":1,"result":{}})") == "other");
  CHECK(read(R"({"method":"notifications/progress"})") == "other");
  CHECK(read(R"({"id":2,"method":"ping"})") == "other");
  CHECK(read(R"({"id":2,"error":{"code":-32602,"message":"no such tool"}})") == "no such tool");
  CHECK(read(R"({"id":null,"error":{"code":-32000,"message":"no session"}})") == "no session");
  CHECK(read(R"({"id":2,"result":7})") == "an answer without a result");
  CHECK(read("no JSON") == "other");
}

TEST_CASE("mcp client: a ping is answered, and any other request of a server is refused") {
  const auto reply = [](const std::string& text) {
    return reply_to(json::Document::view_of(text).root()).value_or("none");
  };
  CHECK(reply(R"({"id":"p","method":"ping"})") == R"({"jsonrpc":"2.0","id":"p","result":{}})");
  CHECK(reply(R"({"id":7,"method":"roots/list"})") ==
        R"({"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"this client does not offer it"}})");
  CHECK(reply(R"({"method":"notifications/progress"})") == "none");
  CHECK(reply(R"({"id":7,"result":{}})") == "none");
  CHECK(reply("no JSON") == "none");
}

TEST_CASE("mcp client: a list leaves out tools that cannot be called, and keeps hints and headers") {
  const std::string schema = R"("inputSchema":{"type":"object","properties":{"a":{"type":"string"}}})";
  const std::string text =
      R"({"tools":[{"name":"look","description":"d","annotations":{"readOnlyHint":true},)" + schema +
      R"(},{"name":"","x":1,)" + schema + R"(},{"name":"none"},{"name":"tell","title":"T","inputSchema":)" +
      R"({"type":"object","properties":{"to":{"type":"string","x-mcp-header":"To"}}}},{"name":"bad",)" +
      R"("inputSchema":{"type":"object","properties":{"to":{"type":"array","x-mcp-header":"To"}}}}],"nextCursor":"n"})";
  const ToolPage page = read_tools(json::Document::view_of(text).root());
  REQUIRE(page.tools.size() == 2);
  CHECK(page.next == "n");
  CHECK(page.tools[0].name == "look");
  CHECK(page.tools[0].may_repeat);
  CHECK_FALSE(page.tools[1].may_repeat);
  CHECK(page.tools[1].description == "T");
  const std::string arguments = R"({"to":" me"})";
  const auto document = json::Document::view_of(arguments);
  CHECK(param_headers(page.tools[1].param_headers, document.root()) ==
        Headers{{"Mcp-Param-To", "=?base64?IG1l?="}});
  const auto none = json::Document::view_of("{}");
  CHECK(param_headers(page.tools[1].param_headers, none.root()).empty());
}

TEST_CASE("mcp client: a result is the text of its parts, or its structured content") {
  const CallResult done = called(
      R"({"content":[{"type":"text","text":"a"},{"type":"image","mimeType":"image/png","data":"AAAA"},)"
      R"({"type":"resource_link","name":"n","uri":"https://h/f"},{"type":"resource","resource":{"uri":"u","text":"t"}}],)"
      R"("structuredContent":{"a":1}})");
  CHECK(done.kind == Kind::done);
  REQUIRE(done.parts.size() == 2);
  CHECK(done.parts[0].content == "a\n\n[image image/png, 3 bytes]\n\n[n: https://h/f]\n\nt");
  const CallResult structured =
      called(R"({"resultType":"complete","content":[],"structuredContent":{"a":1}})");
  REQUIRE(structured.parts.size() == 1);
  CHECK(structured.parts[0].content == R"({"a":1})");
  CHECK(called("{}").parts[0].content == "The tool finished without a result.");
  const CallResult failed = called(R"({"content":[{"type":"text","text":"wrong"}],"isError":true})");
  CHECK(failed.kind == Kind::failed);
  CHECK(failed.text == "wrong");
  CHECK(called(R"({"resultType":"more"})").kind == Kind::failed);
}

TEST_CASE("mcp client: a result keeps its images of common types, within the bounds of one result") {
  const auto image = [](const std::string& type, const std::string& data) {
    return R"({"type":"image","mimeType":")" + type + R"(","data":")" + data + R"("})";
  };
  const auto raw = [](std::string type, std::string data) {
    return task::Part{task::Part::Kind::raw, std::move(data), {}, std::move(type), {}};
  };
  const auto images = [](const std::string& content, const char* more = "") {
    std::vector<task::Part> parts = called(R"({"content":[)" + content + "]" + more + "}").parts;
    if (!parts.empty()) parts.erase(parts.begin());
    return parts;
  };
  using Parts = std::vector<task::Part>;
  CHECK(images(image("image/png", "AAAA") +
               R"(,{"type":"resource","resource":{"uri":"u","mimeType":"image/webp","blob":"AA"}})") ==
        Parts{raw("image/png", "AAAA"), raw("image/webp", "AA==")});
  for (const std::string& other :
       {image("image/png", "no base64!"), image("image/png", ""), image("image/svg+xml", "AAAA"),
        image("", "AAAA"), std::string(R"({"type":"audio","mimeType":"image/png","data":"AAAA"})"),
        std::string(R"({"type":"resource","resource":{"uri":"u","mimeType":"text/csv","blob":"AAAA"}})")}) {
    CAPTURE(other);
    CHECK(images(other).empty());
  }
  CHECK(images(image("image/png", "AAAA"), R"(,"isError":true)").empty());
  const std::string large((std::size_t{4} << 20) - 4, 'A');
  const Parts kept = images(image("image/png", large) + "," + image("image/png", "AAAAAAAA") + "," +
                            image("image/gif", "AAAA") + "," + image("image/png", "AAAA"));
  REQUIRE(kept.size() == 2);
  CHECK(kept[0].content.size() == large.size());
  CHECK(kept[1] == raw("image/gif", "AAAA"));
  std::string many = image("image/png", "AAAA");
  for (int one = 0; one < 30; ++one) many += "," + image("image/png", "AAAA");
  CHECK(images(many).size() == 20);
}

TEST_CASE("mcp client: a call that became a task is looked at until it ends") {
  const CallResult begun =
      called(R"({"resultType":"task","taskId":"t1","status":"working","pollIntervalMs":700})");
  CHECK(begun.kind == Kind::works);
  CHECK(begun.task == "t1");
  CHECK(begun.poll.count() == 700);
  CHECK(looked(R"({"status":"working","pollIntervalMs":1})").poll.count() == 500);
  CHECK(looked(R"({"status":"completed","result":{"content":[{"type":"text","text":"x"}]}})")
            .parts[0]
            .content == "x");
  CHECK(looked(R"({"status":"failed","error":{"message":"lost"}})").text == "lost");
  CHECK(looked(R"({"status":"cancelled"})").kind == Kind::canceled);
}

TEST_CASE("mcp client: a question is a form or a URL, and its answer accepts or declines") {
  const std::string requests =
      R"("inputRequests":{"s":{"method":"sampling/createMessage"},"k":{"method":"elicitation/create","params":)"
      R"({"mode":"form","message":"sure?","requestedSchema":{"type":"object"}}}},"requestState":"rs")";
  const CallResult asks = called(R"({"resultType":"input_required",)" + requests + "}");
  CHECK(asks.kind == Kind::asks);
  CHECK(asks.wanted.key == "k");
  CHECK(asks.wanted.message == "sure?");
  CHECK(asks.wanted.schema.text == R"({"type":"object"})");
  CHECK(asks.state == "rs");
  CHECK(write_input_responses(asks.wanted, data(R"({"a":1})")) ==
        R"({"k":{"action":"accept","content":{"a":1}}})");
  CHECK(write_input_responses(asks.wanted, data(R"({"cancelled":true})")) == R"({"k":{"action":"decline"}})");
  CHECK(write_input_responses(asks.wanted, words("yes")) ==
        R"({"k":{"action":"accept","content":{"answer":"yes"}}})");
  const CallResult visit =
      looked(R"({"status":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":)"
             R"({"mode":"url","message":"log in","url":"https://h/login"}}}})");
  CHECK(visit.wanted.url == "https://h/login");
  CHECK(write_input_responses(visit.wanted, words("done")) == R"({"k":{"action":"accept"}})");
  CHECK(called(R"({"resultType":"input_required","inputRequests":{}})").kind == Kind::failed);
}

}  // namespace baton::protocol::mcp::client_words_test
