#include "protocol/models/chat_completions/answer.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "json/writer.h"
#include "protocol/models/chat_completions/request.h"

namespace baton::protocol::models::chat_completions::answer_test {
namespace {

// The answer that the chunks give.
struct Read {
  explicit Read(const std::vector<std::string>& chunks) {
    for (const std::string& chunk : chunks) {
      const auto piece = reader.take(chunk);
      REQUIRE_MESSAGE(piece.has_value(), chunk);
      reasoning += piece->reasoning;
    }
  }

  Reader reader;
  std::string reasoning;
};

std::string delta(const std::string& members) {
  return R"({"choices":[{"index":0,"delta":{)" + members + "}}]}";
}

std::string calls(const std::string& list) {
  return delta(R"("tool_calls":[)" + list + "]");
}

std::string call(const std::string& members, const std::string& function) {
  return "{" + members + (members.empty() ? "" : ",") + R"("function":{)" + function + "}}";
}

constexpr const char* kEnd = R"({"choices":[{"delta":{},"finish_reason":"stop"}]})";

}  // namespace

TEST_CASE("chat completions: texts of chunks are joined, and the finish reason ends the answer") {
  Read read({delta(R"("role":"assistant","content":"")"), delta(R"("content":"It ")"),
             delta(R"("content":"is.")")});
  CHECK(read.reader.end() == AnswerReader::End::none);
  REQUIRE(read.reader.take(kEnd));
  CHECK(read.reader.end() == AnswerReader::End::whole);
  CHECK(read.reader.text() == "It is.");
  CHECK(read.reader.calls().empty());
}

TEST_CASE("chat completions: a whole completion is read as a finished answer") {
  const Read read({R"({"object":"chat.completion","model":"m","choices":[{"message":{"content":"all"}}]})"});
  CHECK(read.reader.end() == AnswerReader::End::whole);
  CHECK(read.reader.text() == "all");
}

TEST_CASE("chat completions: content may be a list of parts, absent or null") {
  const Read read({delta(R"("content":[{"type":"text","text":"a"},{"type":"text","text":"b"}])"),
                   delta(R"("content":null)"), delta("")});
  CHECK(read.reader.text() == "ab");
}

TEST_CASE("chat completions: reasoning is read separately, under either of its names") {
  const Read read({delta(R"("reasoning_content":"h")"), delta(R"("reasoning":"m")"),
                   delta(R"("reasoning_content":null,"reasoning":"!","content":"x")")});
  CHECK(read.reasoning == "hm!");
  CHECK(read.reader.text() == "x");
}

TEST_CASE("chat completions: chunks without choices and choices without a delta add nothing") {
  const Read read(
      {R"({"choices":[]})", R"({"choices":null,"usage":{"prompt_tokens":1}})", R"({"choices":[{}]})"});
  CHECK(read.reader.text().empty());
  CHECK(read.reader.end() == AnswerReader::End::none);
}

TEST_CASE("chat completions: of several reasoning fields the one that says something counts") {
  const Read read({delta(R"("reasoning_content":"","reasoning":"a")"),
                   delta(R"("content":[{"type":"thinking","thinking":[{"type":"text","text":"b"}]}])"),
                   delta(R"("reasoning_details":[{"type":"reasoning.summary","summary":"c","index":0}])")});
  CHECK(read.reasoning == "abc");
  CHECK(read.reader.text().empty());
}

TEST_CASE("chat completions: objects that are no chunks add nothing") {
  const Read read({R"({})", R"({"type":"ping"})", R"({"id":"c","object":"chat.completion.chunk"})"});
  CHECK(read.reader.text().empty());
  CHECK(read.reader.end() == AnswerReader::End::none);
}

TEST_CASE("chat completions: a finish reason that is not known is never taken for a good end") {
  using End = AnswerReader::End;
  const auto end_of = [](const std::string& reason) {
    return Read({R"({"choices":[{"delta":{},"finish_reason":")" + reason + R"("}]})"}).reader.end();
  };
  for (const char* good : {"stop", "STOP", "tool_calls", "eos_token", "end_turn"})
    CHECK(end_of(good) == End::whole);
  CHECK(end_of("length") == End::cut);
  CHECK(end_of("max_tokens") == End::cut);
  CHECK(end_of("content_filter") == End::filtered);
  for (const char* filter : {"guardrail_intervened", "content_filtered"})  // Bedrock, behind its gateway
    CHECK(end_of(filter) == End::filtered);
  for (const char* filter : {"SAFETY", "BLOCKLIST", "SPII", "IMAGE_SAFETY"})  // Gemini, behind relays
    CHECK(end_of(filter) == End::filtered);
  for (const char* bad : {"abort", "error", "insufficient_system_resource", "network_error", "time_limit",
                          "malformed_tool_use", "x"})
    CHECK(end_of(bad) == End::broken_off);
}

// As one-api, new-api and LiteLLM send answers of Gemini, and gcli2api its thoughts and calls.
TEST_CASE("chat completions: an end that comes with a piece of the answer is not settled") {
  const std::string stop = R"(},"logprobs":null,"finish_reason":"stop","index":0}],"usage":null})";
  const auto chunk = [&](const std::string& members) { return R"({"choices":[{"delta":{)" + members + stop; };
  Reader reader;
  for (const std::string& piece :
       {chunk(R"("content":"Hello")"), chunk(R"("reasoning_content":"Hm")"),
        chunk(R"("tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}])"),
        chunk(R"("content":"! How are you?")")}) {
    REQUIRE(reader.take(piece));
    CHECK(reader.end() == AnswerReader::End::whole);
    CHECK_FALSE(reader.has_settled());
  }
  CHECK(reader.text() == "Hello! How are you?");
  // Such a server's keep-alives are no end, either.
  for (const std::string& other : {chunk(""), std::string(R"({"choices":[],"usage":{"prompt_tokens":1}})")}) {
    REQUIRE(reader.take(other));
    CHECK_FALSE(reader.has_settled());
  }
  CHECK(reader.pieces() == 4);
  Reader usual;
  REQUIRE(usual.take(R"({"choices":[{"delta":{"content":"Hello"}}]})"));
  for (const std::string& other : {chunk(""), std::string(R"({"choices":[],"usage":{"prompt_tokens":1}})")}) {
    REQUIRE(usual.take(other));
    CHECK(usual.has_settled());
  }
  CHECK_FALSE(Read({delta(R"("content":"x")"), delta("")}).reader.has_settled());
}

TEST_CASE("chat completions: members that are not known are joined from the pieces of a stream") {
  const Read read(
      {delta(R"("role":"assistant","content":"","reasoning_content":"I ","audio":null,"tag":"t")"),
       delta(
           R"("reasoning_content":"think.","reasoning_details":[{"type":"reasoning.text","text":"a","index":0}])"),
       delta(R"("tag":"t","reasoning_details":[{"type":"reasoning.text","text":"b","signature":"s","index":0},
                            {"type":"reasoning.encrypted","data":"d","index":1}])"),
       calls(R"({"index":0,"id":"c","function":{"name":"f","arguments":"{}","strict":true},
                            "extra_content":{"google":{"thought_signature":"c2ln"}}})")});
  CHECK(
      read.reader.others().text ==
      R"({"reasoning_content":"I think.","tag":"t","reasoning_details":[{"type":"reasoning.text","text":"ab","index":0,"signature":"s"},{"type":"reasoning.encrypted","data":"d","index":1}]})");
  const CalledTool call = read.reader.calls().front();
  CHECK(call.others.text == R"({"extra_content":{"google":{"thought_signature":"c2ln"}}})");
  CHECK(call.function_others.text == R"({"strict":true})");
  CHECK(Read({delta(R"("content":"x")")}).reader.others().empty());
}

TEST_CASE("chat completions: parts of the content that are no texts are given back in a list") {
  const Read read({delta(R"("content":[{"type":"thinking","thinking":[{"type":"text","text":"a"}]}])"),
                   delta(R"("content":[{"type":"thinking","thinking":[{"type":"text","text":"b"}]}])"),
                   delta(R"("content":"so")")});
  ChatMessage said = ChatMessage::of_text(ChatMessage::Role::assistant, read.reader.text());
  said.others = read.reader.others();
  const std::string body = write_request({"m", {}, {said}, {}});
  CHECK(
      body.find(
          R"("content":[{"type":"thinking","thinking":[{"type":"text","text":"ab"}]},{"type":"text","text":"so"}])") !=
      std::string::npos);
}

TEST_CASE("chat completions: more to give back than is allowed is refused") {
  Reader reader({1'000});
  CHECK(reader.take(delta(R"("reasoning_content":")" + std::string(600, 'x') + "\"")));
  const auto more = reader.take(delta(R"("reasoning_content":")" + std::string(600, 'x') + "\""));
  REQUIRE_FALSE(more);
  CHECK(more.error().code == base::ErrorCode::too_large);
}

TEST_CASE("chat completions: the pieces of a call are joined by index") {
  const Read read({calls(call(R"("index":0,"id":"a")", R"("name":"f","arguments":"")")),
                   calls(call(R"("index":1,"id":"b")", R"("name":"g","arguments":"{}")")),
                   calls(call(R"("index":0)", R"("arguments":"{\"x\":")")),
                   calls(call(R"("index":0)", R"("arguments":"1}")"))});
  CHECK(read.reader.calls() == std::vector<CalledTool>{{"a", "f", "{\"x\":1}"}, {"b", "g", "{}"}});
}

TEST_CASE("chat completions: calls without an index are distinguished by id or by name") {
  const Read by_id({calls(call(R"("id":"a")", R"("name":"f","arguments":"{")")),
                    calls(call(R"("id":"a")", R"("arguments":"}")")),
                    calls(call(R"("id":"b")", R"("name":"f","arguments":"{}")"))});
  CHECK(by_id.reader.calls() == std::vector<CalledTool>{{"a", "f", "{}"}, {"b", "f", "{}"}});
  const Read by_name({calls(call("", R"("name":"f","arguments":"{")")), calls(call("", R"("arguments":"}")")),
                      calls(call("", R"("name":"f","arguments":"{}")"))});
  CHECK(by_name.reader.calls() == std::vector<CalledTool>{{"", "f", "{}"}, {"", "f", "{}"}});
}

TEST_CASE("chat completions: calls with the same index are distinguished by id") {
  const Read read({calls(call(R"("index":0,"id":"a")", R"("name":"f","arguments":"{}")")),
                   calls(call(R"("index":0,"id":"b")", R"("name":"g","arguments":"{")")),
                   calls(call(R"("index":0)", R"("arguments":"}")"))});
  CHECK(read.reader.calls() == std::vector<CalledTool>{{"a", "f", "{}"}, {"b", "g", "{}"}});
}

TEST_CASE("chat completions: calls with one index and no ids are distinguished by complete arguments") {
  const Read read({calls(call(R"("index":0)", R"("name":"f","arguments":"{\"a\":")")),
                   calls(call(R"("index":0)", R"("arguments":"1}")")),
                   calls(call(R"("index":0)", R"("name":"f","arguments":"{}")"))});
  CHECK(read.reader.calls() == std::vector<CalledTool>{{"", "f", R"({"a":1})"}, {"", "f", "{}"}});
}

TEST_CASE("chat completions: a name that is repeated or comes late begins no other call") {
  const std::vector<std::string> streams[] = {
      {call("", R"("name":"f","arguments":"{\"a\":")"), call("", R"("name":"f","arguments":"1}")")},
      {call(R"("index":0,"id":"")", R"("name":"f","arguments":"")"),
       call(R"("index":0,"id":"")", R"("name":"f","arguments":"{\"a\":1}")")},
      {call("", R"("arguments":"{\"a\":")"), call("", R"("name":"f","arguments":"1}")")},
      {call(R"("index":0)", R"("name":"","arguments":"{\"a\":1}")"), call(R"("index":0)", R"("name":"f")")}};
  for (const auto& stream : streams) {
    CAPTURE(stream.front());
    const Read read({calls(stream[0]), calls(stream[1])});
    CHECK(read.reader.calls() == std::vector<CalledTool>{{"", "f", R"({"a":1})"}});
  }
  const Read late_id({calls(call(R"("index":0,"id":"")", R"("name":"f","arguments":"")")),
                      calls(call(R"("index":0,"id":"c")", R"("name":"f","arguments":"{}")"))});
  CHECK(late_id.reader.calls() == std::vector<CalledTool>{{"c", "f", "{}"}});
}

TEST_CASE("chat completions: calls that only the whole message at the end of a stream has are read") {
  const Read read({R"({"choices":[{"delta":{"content":"I look."}}]})",
                   R"({"choices":[{"message":{"content":"I look.","tool_calls":[)" +
                       call(R"("id":"a")", R"("name":"f","arguments":"{}")") +
                       R"(]},"finish_reason":"tool_calls"}]})"});
  CHECK(read.reader.text() == "I look.");
  CHECK(read.reader.calls() == std::vector<CalledTool>{{"a", "f", "{}"}});
}

TEST_CASE("chat completions: calls with one id are distinguished by their names") {
  const Read read({calls(call(R"("id":"a")", R"("name":"f","arguments":"{}")")),
                   calls(call(R"("id":"a")", R"("name":"g","arguments":"{}")"))});
  CHECK(read.reader.calls() == std::vector<CalledTool>{{"a", "f", "{}"}, {"a", "g", "{}"}});
}

TEST_CASE("chat completions: a call without a name and arguments is none") {
  const Read read({calls(call(R"("index":0,"id":"a")", R"("name":"f","arguments":"")")),
                   calls("{},{\"index\":1}," + call(R"("index":2,"id":"")", R"("name":"","arguments":"")"))});
  CHECK(read.reader.calls() == std::vector<CalledTool>{{"a", "f", ""}});
}

TEST_CASE("chat completions: arguments that are JSON stay whole, even if their halves are equal") {
  const auto mended = [](const char* arguments) {
    const Read read(
        {calls(call(R"("index":0,"id":"a")", R"("name":"f","arguments":)" + json::string_of(arguments)))});
    return read.reader.calls().at(0).arguments;
  };
  CHECK(mended(R"({",":":1}{",":":1})") == R"({",":":1}{",":":1})");
  CHECK(mended(R"({"a":{}}{"a":{}})") == R"({"a":{}})");
  CHECK(mended("{}") == "{}");
  // Written as JSON twice, and null of a function without parameters.
  CHECK(mended(R"("{\"a\":\"b\"}")") == R"({"a":"b"})");
  CHECK(mended("null") == "{}");
  CHECK(mended(R"("no object")") == R"("no object")");
}

TEST_CASE("chat completions: arguments may be an object") {
  const Read read({calls(call("", R"("name":"f","arguments":{"x":1})"))});
  CHECK(read.reader.calls().front().arguments == R"({"x":1})");
}

TEST_CASE("chat completions: usage has the valid counts, and the total of a server that leaves it out") {
  const Read read({R"({"choices":[],"model":"m-1","usage":{"prompt_tokens":1}})",
                   R"({"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":-5,
                       "prompt_tokens_details":{"cached_tokens":1},"completion_tokens_details":null}})",
                   R"({"choices":[],"usage":null})"});
  CHECK(
      read.reader.usage("p", "m").text ==
      R"({"provider":"p","model":"m-1","inputTokens":3,"outputTokens":2,"totalTokens":5,"cachedInputTokens":1})");
  CHECK(Read({kEnd}).reader.usage("p", "m").empty());
}

TEST_CASE("chat completions: an error instead of an answer is read, with whether a retry may succeed") {
  struct Case {
    const char* json;
    const char* message;
    bool busy;
  };
  for (const Case& one :
       {Case{R"({"error":{"message":"no","code":"x"}})", "no", false},
        Case{R"({"error":{"message":"later","code":503}})", "later", true},
        Case{R"({"error":{"message":"later","type":"overloaded_error","code":"x"}})", "later", true},
        Case{R"({"error":"no"})", "no", false}, Case{R"({"error":"later","code":503})", "later", true},
        Case{R"({"error":"later","error_type":"overloaded"})", "later", true},
        Case{R"([{"error":{"message":"later","code":503,"status":"UNAVAILABLE"}}])", "later", true},
        Case{R"({"object":"error","message":"no","code":429})", "no", true}}) {
    CAPTURE(one.json);
    const Read read({one.json});
    REQUIRE(read.reader.error());
    CHECK(read.reader.error()->message == one.message);
    CHECK(read.reader.error()->busy == one.busy);
  }
  CHECK_FALSE(Read({R"({"error":null,"choices":[]})"}).reader.error());
}

TEST_CASE("chat completions: texts outside the protocol are refused") {
  Reader reader;
  for (const char* json : {"", "{", "[]", "1"}) {
    CAPTURE(json);
    CHECK_FALSE(reader.take(json));
  }
  std::string list;
  for (int one = 0; one < 65; ++one) list += (one ? "," : "") + call("", R"("name":"f")");
  CHECK_FALSE(reader.take(calls(list)));
}

TEST_CASE("read_error: finds the message of a refusal in any body") {
  CHECK(read_error(R"({"error":{"message":"no","code":"insufficient_quota"}})").code == "insufficient_quota");
  CHECK(read_error(R"({"message":"no"})").message == "no");
  CHECK(read_error(R"([{"error":{"message":"no"}}])").message == "no");
  CHECK(read_error("<html>").message.empty());
}

TEST_CASE("read_error: an account that has nothing left is not taken for a busy server") {
  for (
      const char* body :
      {R"({"error":{"message":"You exceeded your current quota.","type":"insufficient_quota","param":null,
            "code":"insufficient_quota"}})",            // OpenAI
       R"({"error":{"message":"You exceeded your current quota.","type":"insufficient_quota",
            "code":429}})",                             // relays of OpenAI
       R"({"error":{"message":"Your account is suspended due to insufficient balance.",
            "type":"exceeded_current_quota_error"}})",  // Moonshot
       R"({"error":{"code":"1113","message":"Insufficient balance or no resource package. Please recharge."}})"}) {
    CAPTURE(body);  // the last one is Zhipu's
    CHECK(read_error(body).unpaid);
    CHECK_FALSE(read_error(body).busy);
  }
  // Moonshot, while it is busy.
  const AnswerError busy = read_error(R"({"error":{"message":"m","type":"rate_limit_reached_error"}})");
  CHECK_FALSE(busy.unpaid);
}

TEST_CASE("chat completions: a repeated name begins a new call once the arguments are a complete object") {
  Read read({calls(call(R"("index":0)", R"("name":"f","arguments":"{\"a\":\"}\\\"{\"")")),
             calls(call(R"("index":0)", R"("name":"f","arguments":",\"b\":[{}]}")")),
             calls(call(R"("index":0)", R"("name":"g","arguments":" {")")),
             calls(call(R"("index":0)", R"("name":"g","arguments":"}\n")"))});
  const auto called = read.reader.calls();
  REQUIRE(called.size() == 2);
  CHECK(called[0].arguments == R"({"a":"}\"{","b":[{}]})");
  CHECK(called[1].arguments == " {}\n");
}

TEST_CASE("chat completions: arguments past their limit are refused, and the error names it") {
  Reader reader({100});
  const std::string piece = calls(call(R"("index":0)", R"("arguments":")" + std::string(60, 'x') + "\""));
  CHECK(reader.take(piece));
  const auto second = reader.take(piece);
  REQUIRE_FALSE(second);
  CHECK(second.error().code == base::ErrorCode::too_large);
  CHECK(second.error().for_caller.find("100 bytes (outbound.tool_arguments_max)") != std::string::npos);
}

}  // namespace baton::protocol::models::chat_completions::answer_test
