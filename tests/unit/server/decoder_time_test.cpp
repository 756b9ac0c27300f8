// Decoding a list that a client or an agent sends must take time linear in its length (support/growth.h).
// agents/answers_time_test.cpp measures the processing within a turn.
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "agents/command/from_agent.h"
#include "base/base64.h"
#include "protocol/a2a/dialect.h"
#include "protocol/card/remote_card.h"
#include "protocol/chat/protocol.h"
#include "protocol/openai/protocols.h"
#include "protocol/rpc/json_rpc.h"
#include "protocol/sse/sse_reader.h"
#include "support/growth.h"

namespace decoder_time_test {

using namespace baton;
using Text = test::GrowingText;

namespace {

// Development and sanitizer builds decode ten times as slowly, so they use less input.
#ifdef NDEBUG
constexpr std::size_t kSize = 1 << 16;
#else
constexpr std::size_t kSize = 1 << 15;
#endif

using Decode = std::function<void(const std::string&)>;
struct Case {
  std::string name;
  Text text;
  Decode decode;
};

void check_all(const std::vector<Case>& cases) {
  test::keep_memory();
  for (const Case& one : cases) {
    test::check_growth(one.name, kSize, [&](std::size_t size) {
      return [&decode = one.decode, text = one.text.of(size)] { decode(text); };
    });
  }
}

Decode by(const protocol::chat::Protocol& protocol) {
  return [&protocol](const std::string& text) {
    const auto document = json::Document::parse_view(text);
    REQUIRE(document);
    const auto request = protocol.read(document->root());
    REQUIRE_MESSAGE(request, (request ? "" : request.error().for_caller));
  };
}

Decode by(const protocol::a2a::Dialect& dialect, bool (*read)(const protocol::a2a::Dialect&, json::Value)) {
  return [&dialect, read](const std::string& text) {
    const auto document = json::Document::parse_view(text);
    REQUIRE(document);
    read(dialect, document->root());
  };
}

bool read_send(const protocol::a2a::Dialect& dialect, json::Value params) {
  const auto request = dialect.read_send(params);
  REQUIRE_MESSAGE(request, (request ? "" : request.error().for_caller));
  return true;
}
bool read_push(const protocol::a2a::Dialect& dialect, json::Value params) {
  return dialect.read_push(params).has_value();
}
bool read_list(const protocol::a2a::Dialect& dialect, json::Value params) {
  return dialect.read_list(params).has_value();
}

void decode_line(const std::string& text) {
  const auto line = agents::line::decode(text);
  REQUIRE_MESSAGE(line, (line ? "" : line.error().for_caller));
}

// The lists of each decoder.

std::vector<Case> ag_ui() {
  const std::string run = R"({"threadId":"t","runId":"r",)",
                    user = R"({"id":"u","role":"user","content":"hi"})";
  const std::string one_user = R"("messages":[)" + user + "]}";
  const Decode read = by(protocol::chat::agui_protocol());
  return {
      {"messages", {run + R"("messages":[)", R"({"id":"u#","role":"user","content":"x"})", "]}"}, read},
      {"results",
       {run + R"("messages":[)", R"({"id":"t#","role":"tool","toolCallId":"c#","content":"x"})", "]}"},
       read},
      {"assistants",
       {run + R"("messages":[)", R"({"id":"a#","role":"assistant","content":"x"})", "]}"},
       read},
      {"activities",
       {run + R"("messages":[)", R"({"id":"a#","role":"activity","activityType":"x","content":{}})", "]}"},
       read},
      {"toolCalls",
       {run + R"("messages":[{"id":"a","role":"assistant","toolCalls":[)",
        R"({"id":"c#","type":"function","function":{"name":"f","arguments":"{}"}})", "]}," + user + "]}"},
       read},
      {"content",
       {run + R"("messages":[{"id":"u","role":"user","content":[)", R"({"type":"text","text":"x"})", "]}]}"},
       read},
      {"metadata",
       {run + R"("messages":[{"id":"u","role":"user","content":"x","metadata":{)", R"("m#":1)", "}}]}"},
       read},
      {"tools",
       {run + R"("tools":[)", R"({"name":"f#","description":"x","parameters":{}})", "]," + one_user},
       read},
      {"resume",
       {run + R"("resume":[)", R"({"interruptId":"i#","status":"resolved","payload":1})", "]," + one_user},
       read},
      {"context", {run + R"("context":[)", R"({"description":"d","value":"v#"})", "]," + one_user}, read},
      {"state", {run + R"("state":{)", R"("s#":1)", "}," + one_user}, read},
      {"members", {run, R"("m#":1)", "," + one_user}, read},
  };
}

std::vector<Case> ag_kit() {
  const std::string user = R"({"role":"user","content":"hi"})";
  const Decode read = by(protocol::chat::agkit_protocol());
  return {
      {"messages", {R"({"messages":[)", R"({"role":"user","content":"x#"})", "]}"}, read},
      {"others", {R"({"messages":[)" + user + ",", R"({"role":"assistant","content":"x#"})", "]}"}, read},
      {"results", {R"({"messages":[)", R"({"role":"tool","toolCallId":"c#","content":"{}"})", "]}"}, read},
      {"tools",
       {R"({"messages":[)" + user + R"(],"tools":[)", R"({"name":"f#","parameters":"{}"})", "]}"},
       read},
      {"payload", {R"({"resume":{"interruptId":"i","payload":{)", R"("p#":1)", "}}}"}, read},
  };
}

std::vector<Case> agent_api() {
  const std::string user = R"({"role":"user","content":[{"type":"text","text":"hi"}]})",
                    end = "," + user + "]}";
  const Decode read = by(protocol::chat::agent_api_protocol());
  return {
      {"users", {R"({"input":[)", R"({"role":"user","content":[{"type":"text","text":"x"}]})", "]}"}, read},
      {"agents", {R"({"input":[)", R"({"role":"assistant","content":[]})", end}, read},
      {"systems", {R"({"input":[)", R"({"role":"system","content":[]})", end}, read},
      {"outputs",
       {R"({"input":[)", R"({"type":"function_call_output","call_id":"c#","output":"x"})", "]}"},
       read},
      {"data",
       {R"({"input":[{"role":"tool","content":[)", R"({"type":"data","data":{"call_id":"c#","output":"x"}})",
        "]}]}"},
       read},
      {"approvals",
       {R"({"input":[)", R"({"type":"mcp_approval_response","approval_request_id":"a#","approve":true})",
        "]}"},
       read},
      {"content", {R"({"input":[{"role":"user","content":[)", R"({"type":"text","text":"x"})", "]}]}"}, read},
      {"tools",
       {R"({"tools":[)", R"({"type":"function","function":{"name":"f#"}})", R"(],"input":[)" + user + "]}"},
       read},
      {"stop", {R"({"stop":[)", R"("s#")", R"(],"input":[)" + user + "]}"}, read},
  };
}

std::vector<Case> agent_server() {
  static const auto protocol = protocol::chat::make_agent_server_protocol("response");
  const std::string begin = R"({"user_id":"u","session_id":"s","input":[)";
  const std::string user = R"({"role":"user","content":[{"type":"text","text":"hi"}]})";
  const Decode read = by(*protocol);
  return {
      {"users", {begin, user, "]}"}, read},
      {"others", {begin + user + ",", R"({"role":"assistant","content":"x#"})", "]}"}, read},
      {"content", {begin + R"({"role":"user","content":[)", R"({"type":"text","text":"x"})", "]}]}"}, read},
  };
}

std::vector<Case> openai() {
  const std::string user = R"({"role":"user","content":"hi"})", model = R"({"model":"m",)";
  const Decode completion = by(protocol::openai::completions(false)),
               response = by(protocol::openai::responses());
  const std::string call = R"({"id":"call_t_c#","type":"function","function":{"name":"f","arguments":"{}"}})";
  return {
      {"completion messages", {model + R"("messages":[)", user, "]}"}, completion},
      {"completion history",
       {model + R"("messages":[)", R"({"role":"assistant","content":"x#"})", "," + user + "]}"},
       completion},
      {"completion calls",
       {model + R"("messages":[{"role":"assistant","tool_calls":[)", call, "]}," + user + "]}"},
       completion},
      {"completion results",
       {model + R"("messages":[)", R"({"role":"tool","tool_call_id":"call_t_c#","content":"x"})", "]}"},
       completion},
      {"completion members", {model, R"("m#":1)", R"(,"messages":[)" + user + "]}"}, completion},
      {"response items",
       {model + R"("input":[)", R"({"type":"item_reference","id":"msg_t_#"})", "," + user + "]}"},
       response},
      {"response outputs",
       {model + R"("input":[)", R"({"type":"function_call_output","call_id":"call_t_#","output":"x"})", "]}"},
       response},
      {"response content",
       {model + R"("input":[{"role":"user","content":[)", R"({"type":"input_text","text":"x"})", "]}]}"},
       response},
      {"response tools",
       {model + R"("tools":[)", R"({"type":"function","name":"f#"})", R"(],"input":"hi"})"},
       response},
  };
}

std::vector<Case> tasks_era() {
  const auto& dialect = protocol::a2a::v0_1();
  const std::string before = R"({"id":"t",)",
                    text = R"("message":{"role":"user","parts":[{"type":"text","text":"hi"}]})";
  return {
      {"parts",
       {before + R"("message":{"role":"user","parts":[)", R"({"type":"text","text":"x"})", "]}}"},
       by(dialect, read_send)},
      {"modes", {before + text + R"(,"acceptedOutputModes":[)", R"("m/#")", "]}"}, by(dialect, read_send)},
      {"metadata", {before + text + R"(,"metadata":{)", R"("m#":1)", "}}"}, by(dialect, read_send)},
      {"schemes",
       {before + R"("pushNotificationConfig":{"url":"http://x","authentication":{"schemes":[)", R"("s#")",
        "]}}}"},
       by(dialect, read_push)},
  };
}

std::vector<Case> later_versions(const protocol::a2a::Dialect& dialect, const std::string& role,
                                 const std::string& parts, const std::string& part) {
  const std::string begin = R"({"message":{"messageId":"m","role":")" + role + "\",";
  const std::string message = begin + "\"" + parts + R"(":[)" + part + "]";
  return {
      {"parts", {begin + "\"" + parts + R"(":[)", part, "]}}"}, by(dialect, read_send)},
      {"extensions", {message + R"(,"extensions":[)", R"("http://x/#")", "]}}"}, by(dialect, read_send)},
      {"references", {message + R"(,"referenceTaskIds":[)", R"("t#")", "]}}"}, by(dialect, read_send)},
      {"modes",
       {message + R"(},"configuration":{"acceptedOutputModes":[)", R"("m/#")", "]}}"},
       by(dialect, read_send)},
      {"metadata", {message + R"(},"metadata":{)", R"("m#":1)", "}}"}, by(dialect, read_send)},
      {"message metadata", {message + R"(,"metadata":{)", R"("m#":1)", "}}}"}, by(dialect, read_send)},
      {"params", {"{", R"("m#":1)", "," + message.substr(1) + "}}"}, by(dialect, read_send)},
      {"list", {"{", R"("m#":1)", "}"}, by(dialect, read_list)},
      {"schemes",
       {R"({"taskId":"t","pushNotificationConfig":{"url":"http://x","authentication":{"schemes":[)",
        R"("s#")", "]}}}"},
       by(dialect, read_push)},
  };
}

std::vector<Case> agents_lines() {
  const std::string artifact = R"({"type":"artifact","artifact":{"artifactId":"a",)";
  return {
      {"artifact parts", {artifact + R"("parts":[)", R"({"text":"x"})", "]}}"}, decode_line},
      {"artifact metadata",
       {artifact + R"("parts":[{"text":"x"}],"metadata":{)", R"("m#":1)", "}}}"},
       decode_line},
      {"message parts", {R"({"type":"ask","message":{"parts":[)", R"({"text":"x"})", "]}}"}, decode_line},
      {"patch",
       {R"({"type":"state","delta":[)", R"({"op":"add","path":"/p#","value":1})", "]}"},
       decode_line},
      {"snapshot", {R"({"type":"state","snapshot":{)", R"("s#":1)", "}}"}, decode_line},
      {"usage", {R"({"type":"usage","usage":{)", R"("u#":1)", "}}"}, decode_line},
      {"members", {R"({"type":"text","delta":"x",)", R"("m#":1)", "}"}, decode_line},
  };
}

std::vector<Case> the_rest() {
  const std::string card =
      R"({"name":"a","description":"d","version":"1","defaultInputModes":["x/y"],"defaultOutputModes":["x/y"],)"
      R"("url":"http://x/","protocolVersion":"0.3.0",)";
  const Decode read_card = [](const std::string& text) { REQUIRE(protocol::read_remote_card(text)); };
  return {
      {"JSON-RPC members",
       {R"({"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"t"},)", R"("m#":1)", "}"},
       [](const std::string& text) {
         const auto document = json::Document::parse_view(text);
         REQUIRE(document);
         REQUIRE(protocol::read_rpc_request(document->root()));
       }},
      {"JSON numbers that no double holds",
       {"[", "1e999#", "]"},
       [](const std::string& text) { REQUIRE(json::Document::parse_view(text)); }},
      {"JSON strings with escapes",
       {"[", R"("\u0041#")", "]"},
       [](const std::string& text) { REQUIRE(json::Document::parse_view(text)); }},
      {"base64",
       {"", "QUFB", "", ""},
       [](const std::string& text) { REQUIRE(base::normalize_base64(text)); }},
      {"SSE lines",
       {"", "data: x#\n", "\n", ""},
       [](const std::string& text) {
         protocol::SseReader reader;
         REQUIRE(reader.feed(text, [](const protocol::SseEvent&) { return true; }));
       }},
      {"SSE fields",
       {"", "id: x#\nevent: y#\nretry: 1\nother: z\n", "\n", ""},
       [](const std::string& text) {
         protocol::SseReader reader;
         REQUIRE(reader.feed(text, [](const protocol::SseEvent&) { return true; }));
       }},
      {"SSE bytes one by one",
       {"data: ", "x#", "\n\n", ""},
       [](const std::string& text) {
         protocol::SseReader reader;
         bool is_good = true;
         for (const char& byte : text)
           is_good = reader.feed({&byte, 1}, [](const protocol::SseEvent&) { return true; }) && is_good;
         REQUIRE(is_good);
       }},
      {"SSE comments",
       {"", ": x#\n\n", "", ""},
       [](const std::string& text) {
         protocol::SseReader reader;
         REQUIRE(reader.feed(text, [](const protocol::SseEvent&) { return true; }));
       }},
      {"card skills",
       {card + R"("skills":[)", R"({"id":"s#","name":"n","description":"d","tags":[]})", "]}"},
       read_card},
      {"card interfaces",
       {card + R"("skills":[],"additionalInterfaces":[)", R"({"url":"http://x/#","transport":"JSONRPC"})",
        "]}"},
       read_card},
      {"card schemes",
       {card + R"("skills":[],"securitySchemes":{)", R"("s#":{"type":"http","scheme":"bearer"})", "}}"},
       read_card},
      {"card requirements", {card + R"("skills":[],"security":[)", R"({"s#":[]})", "]}"}, read_card},
  };
}

}  // namespace

TEST_CASE("Decoders: lists of AG-UI are decoded in linear time") {
  check_all(ag_ui());
}

TEST_CASE("Decoders: lists of AG-Kit are decoded in linear time") {
  check_all(ag_kit());
}

TEST_CASE("Decoders: lists of the Agent API are decoded in linear time") {
  check_all(agent_api());
}

TEST_CASE("Decoders: lists of the Agent Server are decoded in linear time") {
  check_all(agent_server());
}

TEST_CASE("Decoders: lists of OpenAI's API are decoded in linear time") {
  check_all(openai());
}

TEST_CASE("Decoders: lists of all A2A versions are decoded in linear time") {
  const std::string kind = R"({"kind":"text","text":"x"})", plain = R"({"text":"x"})";
  check_all(tasks_era());
  check_all(later_versions(protocol::a2a::v0_3(), "user", "parts", kind));
  check_all(later_versions(protocol::a2a::v0_3_rest(), "ROLE_USER", "content", plain));
  check_all(later_versions(protocol::a2a::v1_0(), "ROLE_USER", "parts", plain));
}

TEST_CASE("Decoders: lists in an agent's line are decoded in linear time") {
  check_all(agents_lines());
}

TEST_CASE("Decoders: envelopes, cards and SSE are decoded in linear time") {
  check_all(the_rest());
}

}  // namespace decoder_time_test
