#include "protocol/agui/run_reader.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace run_reader_test {

using namespace baton;
using protocol::agui::RunEnd;
using protocol::agui::RunPiece;
using protocol::agui::RunReader;
using protocol::agui::RunReasoning;
using protocol::agui::RunSnapshot;
using protocol::agui::RunText;

namespace {

// A short text for each piece of the run.
struct Shown {
  std::string operator()(const RunText& text) const {
    return "text " + text.message + " " + (text.last ? "." : text.delta);
  }
  std::string operator()(const RunSnapshot& snapshot) const {
    std::string all = snapshot.has_user ? "snapshot" : "part";
    for (const RunText& said : snapshot.said) all += ", " + said.message + " " + said.delta;
    for (const task::ToolCall& call : snapshot.calls) all += ", " + (*this)(call);
    return all;
  }
  std::string operator()(const RunReasoning& reasoning) const { return "reasoning " + reasoning.delta; }
  std::string operator()(const task::EventBody& body) const { return std::visit(*this, body); }
  std::string operator()(const task::ToolCall& call) const {
    return "call " + call.id + " " + call.name + " " + call.arguments.text;
  }
  std::string operator()(const task::ToolResult& result) const {
    return "result " + result.id + " " + result.content.text + result.error;
  }
  std::string operator()(const task::StateSnapshot& state) const { return "state " + state.snapshot.text; }
  std::string operator()(const task::StateDelta& state) const { return "delta " + state.patch.text; }
  std::string operator()(const task::Step& step) const {
    return (step.phase == task::Step::Phase::start ? "begin " : "end ") + step.name;
  }
  std::string operator()(const task::Activity& activity) const {
    return "activity " + activity.id + " " + activity.type + " " + activity.content.text +
           activity.patch.text;
  }
  std::string operator()(const task::Custom& custom) const {
    return "custom " + custom.name + " " + custom.value.text;
  }
  std::string operator()(const task::Usage& usage) const { return "usage " + usage.used.text; }
  std::string operator()(const task::StatusChanged& note) const {
    return "note " + (note.status.message ? task::text_of(*note.status.message) : "") + note.metadata.text;
  }
  std::string operator()(const task::ArtifactChunk& chunk) const {
    return "artifact " + chunk.artifact.id.value + (chunk.append ? " +" : "") +
           (chunk.last_chunk ? " ." : "");
  }
  template <class T>
  std::string operator()(const T&) const {
    return "other";
  }
};

struct Bench {
  RunReader reader;

  std::vector<std::string> take(const std::vector<std::string>& events) {
    std::vector<std::string> shown;
    for (const std::string& event : events) {
      const auto pieces = reader.take(event);
      REQUIRE(pieces.has_value());
      for (const RunPiece& piece : *pieces) shown.push_back(std::visit(Shown(), piece));
    }
    return shown;
  }
};

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("RunReader: text is read from pieces and chunks, and only the agent's own") {
  Bench bench;
  CHECK(bench.take({R"({"type":"TEXT_MESSAGE_START","messageId":"a"})",
                    R"({"type":"TEXT_MESSAGE_CONTENT","messageId":"a","delta":"x"})",
                    R"({"type":"TEXT_MESSAGE_CONTENT","messageId":"a","delta":""})",
                    R"({"type":"TEXT_MESSAGE_END","messageId":"a"})",
                    R"({"type":"TEXT_MESSAGE_START","messageId":"b","role":"system"})",
                    R"({"type":"TEXT_MESSAGE_CONTENT","messageId":"b","delta":"hidden"})",
                    R"({"type":"TEXT_MESSAGE_END","messageId":"b"})",
                    R"({"type":"TEXT_MESSAGE_CHUNK","messageId":"c","delta":"y"})",
                    R"({"type":"TEXT_MESSAGE_CHUNK","delta":"z"})",
                    R"({"type":"TEXT_MESSAGE_CHUNK","messageId":"d","role":"user","delta":"hidden"})",
                    R"({"type":"TEXT_MESSAGE_CHUNK","delta":"hidden"})"}) ==
        Lines{"text a x", "text a .", "text c y", "text c z"});
}

TEST_CASE("RunReader: a snapshot has what the agent has said since the last user message") {
  const std::string snapshot =
      R"({"type":"MESSAGES_SNAPSHOT","messages":[{"role":"assistant","content":"old"},
    {"role":"user","content":"u"},{"role":"assistant","content":"a","id":"m"},{"role":"tool","content":"t"},
    {"role":"assistant","content":"b"},{"role":"assistant","toolCalls":[]},7]})";
  Bench bench, odd;
  CHECK(bench.take({snapshot}) == Lines{"snapshot, m a, message 5 b"});
  CHECK(odd.take({R"({"type":"MESSAGES_SNAPSHOT","messages":{}})"}) == Lines{"part"});
  CHECK(odd.take({R"({"type":"TEXT_MESSAGE_CHUNK","messageId":"c","delta":"y"})",
                  R"({"type":"MESSAGES_SNAPSHOT","messages":[]})"}) == Lines{"text c y", "text c .", "part"});
}

TEST_CASE("RunReader: a snapshot has the calls since the last user message that have no result there") {
  Bench bench;
  CHECK(bench.take({R"({"type":"MESSAGES_SNAPSHOT","messages":[
            {"role":"assistant","id":"m1","toolCalls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]},
            {"role":"user","content":"u"},
            {"role":"assistant","id":"m2","content":"wait","toolCalls":[
              {"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}},
              {"id":"2","type":"function","function":{"name":"g","arguments":"{}"}}]},
            {"role":"tool","toolCallId":"2","content":"ok"},
            {"role":"assistant","id":"m3","content":null,"tool_calls":[
              {"id":"3","function":{"name":"h","arguments":null}}, {"id":"4"}, 7]},
            {"role":"assistant","id":"m4","toolCalls":null}]})"}) ==
        Lines{R"(snapshot, m2 wait, call 1 f {"a":1}, call 3 h {})"});
}

TEST_CASE("RunReader: reasoning is read under its new and its old event names") {
  Bench bench;
  CHECK(bench.take({R"({"type":"REASONING_START","messageId":"a"})",
                    R"({"type":"REASONING_MESSAGE_CONTENT","messageId":"a","delta":"1"})",
                    R"({"type":"REASONING_MESSAGE_CHUNK","delta":"2"})",
                    R"({"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"3"})",
                    R"({"type":"REASONING_ENCRYPTED_VALUE","delta":"4"})"}) ==
        Lines{"reasoning 1", "reasoning 2", "reasoning 3"});
}

TEST_CASE("RunReader: a result in parts that are texts is a text, and any other is its JSON") {
  Bench bench;
  const auto result = [](const std::string& content) {
    return R"({"type":"TOOL_CALL_RESULT","toolCallId":"1","content":)" + content + "}";
  };
  CHECK(
      bench.take({result(R"([{"type":"text","text":"a"},{"type":"text","text":"b","id":"p"}])"),
                  result(R"([{"type":"text","text":"a"},{"type":"image"}])"), result("[]"), result("[7]")}) ==
      Lines{R"(result 1 "a\nb")", R"(result 1 "[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"image\"}]")",
            R"(result 1 "[]")", R"(result 1 "[7]")"});
}

TEST_CASE("RunReader: a call is reported at its end, its result, another chunk or the run's end") {
  Bench bench;
  CHECK(bench.take({R"({"type":"TOOL_CALL_START","toolCallId":"1","toolCallName":"f"})",
                    R"({"type":"TOOL_CALL_START","toolCallId":"2","toolCallName":"g"})",
                    R"({"type":"TOOL_CALL_ARGS","toolCallId":"1","delta":"{\"a\""})",
                    R"({"type":"TOOL_CALL_ARGS","toolCallId":"1","delta":":1}"})",
                    R"({"type":"TOOL_CALL_END","toolCallId":"1"})",
                    R"({"type":"TOOL_CALL_RESULT","toolCallId":"2","content":"ok"})"}) ==
        Lines{R"(call 1 f {"a":1})", "call 2 g {}", R"(result 2 "ok")"});
  CHECK(bench.take({R"({"type":"TOOL_CALL_CHUNK","toolCallId":"3","toolCallName":"h","delta":"no"})",
                    R"({"type":"TOOL_CALL_CHUNK","delta":" json"})",
                    R"({"type":"TOOL_CALL_CHUNK","toolCallId":"4","toolCallName":"i"})",
                    R"({"type":"STEP_STARTED","stepName":"s"})",
                    R"({"type":"TOOL_CALL_START","toolCallId":"5","toolCallName":"j"})",
                    R"({"type":"RUN_FINISHED"})"}) ==
        Lines{R"(call 3 h "no json")", "call 4 i {}", "begin s", "call 5 j {}"});
}

TEST_CASE("RunReader: chunks continue a call after unrelated events, and after TOOL_CALL_START") {
  Bench between, begun;
  CHECK(between.take({R"({"type":"TOOL_CALL_CHUNK","toolCallId":"1","toolCallName":"f","delta":"{\"a\""})",
                      R"({"type":"RAW","event":{}})",
                      R"({"type":"ACTIVITY_SNAPSHOT","messageId":"p","activityType":"PLAN","content":{}})",
                      R"({"type":"REASONING_ENCRYPTED_VALUE","encryptedValue":"x"})",
                      R"({"type":"TOOL_CALL_CHUNK","toolCallId":"1","delta":":1}"})",
                      R"({"type":"RUN_FINISHED"})"}) == Lines{"activity p PLAN {}", R"(call 1 f {"a":1})"});
  CHECK(begun.take({R"({"type":"TOOL_CALL_START","toolCallId":"1","toolCallName":"f"})",
                    R"({"type":"TOOL_CALL_CHUNK","toolCallId":"1","delta":"{\"a\""})",
                    R"({"type":"TOOL_CALL_CHUNK","toolCallId":"1","delta":":1}"})",
                    R"({"type":"TOOL_CALL_END","toolCallId":"1"})"}) == Lines{R"(call 1 f {"a":1})"});
}

TEST_CASE("RunReader: state, steps, activities and custom events are read") {
  Bench bench;
  CHECK(bench.take({R"({"type":"STATE_SNAPSHOT","snapshot":{"n":1}})",
                    R"({"type":"STATE_DELTA","delta":[{"op":"remove","path":"/n"}]})",
                    R"({"type":"STATE_DELTA","delta":[{"op":"remove"}]})",
                    R"({"type":"STEP_FINISHED","stepName":"s"})", R"({"type":"STEP_STARTED"})",
                    R"({"type":"ACTIVITY_SNAPSHOT","messageId":"p","activityType":"PLAN","content":{}})",
                    R"({"type":"ACTIVITY_DELTA","messageId":"p","activityType":"PLAN","patch":[]})",
                    R"({"type":"ACTIVITY_SNAPSHOT","messageId":"p","content":{}})",
                    R"({"type":"CUSTOM","name":"mine","value":null})", R"({"type":"CUSTOM"})",
                    R"({"type":"RAW"})", R"({"type":"WHATEVER"})"}) ==
        Lines{R"(state {"n":1})", R"(delta [{"op":"remove","path":"/n"}])", "end s", "activity p PLAN {}",
              "activity p PLAN []", "custom mine null"});
}

TEST_CASE("RunReader: notes and artifacts of Baton servers are read back as such") {
  Bench bench;
  CHECK(
      bench.take(
          {R"({"type":"CUSTOM","name":"status","value":{"message":"soon","progress":0.5,"more":1}})",
           R"({"type":"CUSTOM","name":"artifact","value":{"artifact":{"artifactId":"a","parts":[{"data":1}]},"append":true,"lastChunk":true}})",
           R"({"type":"CUSTOM","name":"artifact","value":{"artifact":7}})"}) ==
      Lines{R"(note soon{"progress":0.5})", "artifact a + .", R"(custom artifact {"artifact":7})"});
}

TEST_CASE("RunReader: a successful run ends with its result and usage, and later events are ignored") {
  Bench bench;
  CHECK(bench.take({R"({"type":"RUN_FINISHED","result":[1],"outcome":{"type":"success"},
                        "usage":[{"model":"m","inputTokens":3,"outputTokens":-1,"totalTokens":"x"},{}, 7]})",
                    R"({"type":"STEP_STARTED","stepName":"s"})"}) ==
        Lines{R"(usage {"model":"m","inputTokens":3})"});
  REQUIRE(bench.reader.end().has_value());
  CHECK(bench.reader.end()->kind == RunEnd::Kind::finished);
  CHECK(bench.reader.end()->result.text == "[1]");
}

TEST_CASE("RunReader: a run that follows another is read, and decides how both have ended") {
  Bench bench;
  CHECK(bench.take({R"({"type":"RUN_STARTED","runId":"1"})",
                    R"({"type":"TEXT_MESSAGE_CHUNK","messageId":"a","delta":"one"})",
                    R"({"type":"CUSTOM","name":"on_interrupt","value":"Sure?"})",
                    R"({"type":"RUN_FINISHED","runId":"1"})",
                    R"({"type":"TEXT_MESSAGE_CHUNK","messageId":"b","delta":"between"})"}) ==
        Lines{"text a one"});
  REQUIRE(bench.reader.end().has_value());
  CHECK(bench.reader.end()->kind == RunEnd::Kind::interrupted);
  CHECK(bench.take({R"({"type":"RUN_STARTED","runId":"2"})",
                    R"({"type":"TEXT_MESSAGE_CHUNK","messageId":"c","delta":"two"})"}) ==
        Lines{"text c two"});
  CHECK_FALSE(bench.reader.end().has_value());
  CHECK(bench.reader.held() == 0);
  bench.take({R"({"type":"RUN_FINISHED","runId":"2","result":2})"});
  REQUIRE(bench.reader.end().has_value());
  CHECK(bench.reader.end()->kind == RunEnd::Kind::finished);
  CHECK(bench.reader.end()->result.text == "2");
}

TEST_CASE("RunReader: no run follows one that has failed, so a call that it left unfinished is not made") {
  Bench bench;
  CHECK(bench
            .take({R"({"type":"RUN_STARTED","runId":"1"})",
                   R"({"type":"TOOL_CALL_START","toolCallId":"1","toolCallName":"f"})",
                   R"({"type":"TOOL_CALL_ARGS","toolCallId":"1","delta":"{\"a\":"})",
                   R"({"type":"RUN_ERROR","message":"m"})", R"({"type":"RUN_STARTED","runId":"2"})",
                   R"({"type":"TEXT_MESSAGE_CHUNK","messageId":"b","delta":"two"})",
                   R"({"type":"RUN_FINISHED","runId":"2"})"})
            .empty());
  REQUIRE(bench.reader.end().has_value());
  CHECK(bench.reader.end()->kind == RunEnd::Kind::failed);
}

TEST_CASE("RunReader: members that are null are like absent ones") {
  Bench bench;
  CHECK(
      bench.take({R"({"type":"RUN_STARTED","runId":"","parentRunId":null,"input":null,"timestamp":null})",
                  R"({"type":"TEXT_MESSAGE_START","messageId":"a","role":null,"rawEvent":null})",
                  R"({"type":"TEXT_MESSAGE_CONTENT","messageId":"a","delta":"x","rawEvent":null})",
                  R"({"type":"TEXT_MESSAGE_CHUNK","messageId":null,"delta":null})",
                  R"({"type":"TOOL_CALL_START","toolCallId":"1","toolCallName":"f","parentMessageId":null})",
                  R"({"type":"TOOL_CALL_CHUNK","toolCallId":"1","toolCallName":null,"delta":null})",
                  R"({"type":"TOOL_CALL_RESULT","toolCallId":"1","content":null,"error":null,"role":null})",
                  R"({"type":"STATE_DELTA","delta":null})", R"({"type":"STEP_STARTED","stepName":null})",
                  R"({"type":"MESSAGES_SNAPSHOT","messages":null})",
                  R"({"type":"RUN_FINISHED","result":null,"outcome":null,"interrupt":null,"usage":null})"}) ==
      Lines{"text a x", "call 1 f {}", R"(result 1 "")", "part"});
  REQUIRE(bench.reader.end().has_value());
  CHECK(bench.reader.end()->kind == RunEnd::Kind::finished);
  CHECK(bench.reader.end()->result.empty());
}

TEST_CASE("RunReader: a run ends with interrupts, cancelled, or with an error") {
  Bench asked, cancelled, failed;
  asked.take({R"({"type":"RUN_FINISHED","outcome":{"type":"interrupt","interrupts":[
      {"id":"i","message":"Sure?","reason":"baton:auth","responseSchema":{"type":"object"},"metadata":{"url":"https://x"}},
      {"message":"no id"}]}})"});
  REQUIRE(asked.reader.end()->kind == RunEnd::Kind::interrupted);
  REQUIRE(asked.reader.end()->interrupts.size() == 1);
  const auto& interrupt = asked.reader.end()->interrupts.front();
  CHECK(interrupt.id == "i");
  CHECK(interrupt.message == "Sure?");
  CHECK(interrupt.schema.text == R"({"type":"object"})");
  CHECK(interrupt.url.text == R"("https://x")");
  CHECK(interrupt.for_auth);
  cancelled.take({R"({"type":"RUN_FINISHED","outcome":{"type":"cancelled"}})"});
  CHECK(cancelled.reader.end()->kind == RunEnd::Kind::cancelled);
  failed.take({R"({"type":"RUN_ERROR","message":"m","code":"c"})"});
  CHECK(failed.reader.end()->kind == RunEnd::Kind::failed);
  CHECK(failed.reader.end()->error == "m");
}

TEST_CASE("RunReader: an outcome that is not known to be a success is none") {
  using Kind = RunEnd::Kind;
  const std::vector<std::pair<std::string, Kind>> table{
      {"null", Kind::finished},
      {"{}", Kind::finished},
      {R"("success")", Kind::finished},
      {R"({"type":"success"})", Kind::finished},
      {R"("cancelled")", Kind::cancelled},
      {R"({"type":"canceled"})", Kind::cancelled},
      {R"("interrupt")", Kind::failed},
      {R"({"type":"interrupt","interrupts":7})", Kind::failed},
      {R"({"type":"interrupt","interrupts":[{"message":"Sure?"}]})", Kind::failed},
      {R"({"type":"max_turns"})", Kind::failed},
  };
  for (const auto& [outcome, kind] : table) {
    CAPTURE(outcome);
    Bench bench;
    bench.take({R"({"type":"RUN_FINISHED","outcome":)" + outcome + "}"});
    REQUIRE(bench.reader.end().has_value());
    CHECK(bench.reader.end()->kind == kind);
  }
}

// As the Python SDK's model_dump_json writes events, which servers use in place of its encoder.
TEST_CASE("RunReader: members in snake_case are read") {
  Bench bench;
  CHECK(bench.take({R"({"type":"TEXT_MESSAGE_START","message_id":"test-123","role":"assistant"})",
                    R"({"type":"TEXT_MESSAGE_CONTENT","message_id":"test-123","delta":"Hello"})",
                    R"({"type":"TEXT_MESSAGE_END","message_id":"test-123"})",
                    R"({"type":"STEP_STARTED","step_name":"s"})",
                    R"({"type":"TOOL_CALL_START","tool_call_id":"1","tool_call_name":"f"})",
                    R"({"type":"TOOL_CALL_ARGS","tool_call_id":"1","delta":"{}"})",
                    R"({"type":"TOOL_CALL_END","tool_call_id":"1"})",
                    R"({"type":"TOOL_CALL_RESULT","message_id":"m","tool_call_id":"1","content":"ok"})"}) ==
        Lines{"text test-123 Hello", "text test-123 .", "begin s", "call 1 f {}", R"(result 1 "ok")"});
}

// Of Microsoft's Agent Framework until July 2026, and of AG-UI's draft about interrupts.
TEST_CASE("RunReader: interrupts beside the outcome end a run, too") {
  Bench list, draft, finished;
  list.take({R"({"type":"RUN_FINISHED","threadId":"t","runId":"r","interrupt":[{"id":"call_1","value":{
      "type":"function_approval_request","function_call":{"call_id":"call_1","name":"deploy"}}}]})"});
  REQUIRE(list.reader.end()->kind == RunEnd::Kind::interrupted);
  REQUIRE(list.reader.end()->interrupts.size() == 1);
  CHECK(list.reader.end()->interrupts[0].id == "call_1");
  CHECK(list.reader.end()->interrupts[0].about.text.find(R"("name":"deploy")") != std::string::npos);
  draft.take({R"({"type":"RUN_FINISHED","outcome":"interrupt","interrupt":{"id":"i","reason":"human_approval",
      "payload":{"amount":900}}})"});
  REQUIRE(draft.reader.end()->kind == RunEnd::Kind::interrupted);
  CHECK(draft.reader.end()->interrupts[0].about.text == R"({"amount":900})");
  finished.take({R"({"type":"RUN_FINISHED","outcome":{"type":"success"},"interrupt":null})"});
  CHECK(finished.reader.end()->kind == RunEnd::Kind::finished);
}

TEST_CASE("RunReader: an interrupt shows what it is about, and custom events of LangGraph ask too") {
  Bench wrapped, plain, asked;
  const auto about = [](const Bench& bench) { return bench.reader.end()->interrupts.front().about.text; };
  wrapped.take({R"({"type":"RUN_FINISHED","outcome":{"type":"interrupt","interrupts":[
      {"id":"i","metadata":{"langgraph":{"raw":{"amount":900}}}}]}})"});
  CHECK(about(wrapped) == R"({"amount":900})");
  plain.take({R"({"type":"RUN_FINISHED","outcome":{"type":"interrupt","interrupts":[
      {"id":"i","metadata":{"url":"https://x","tool":"rm"}}]}})"});
  CHECK(about(plain) == R"({"tool":"rm"})");
  asked.take({R"({"type":"CUSTOM","name":"on_interrupt","value":"{\"question\":\"Delete?\",\"files\":20}"})",
              R"({"type":"CUSTOM","name":"on_interrupt","value":"And these?"})",
              R"({"type":"RUN_FINISHED"})"});
  REQUIRE(asked.reader.end()->kind == RunEnd::Kind::interrupted);
  REQUIRE(asked.reader.end()->interrupts.size() == 2);
  CHECK(asked.reader.end()->interrupts[0].id == "on_interrupt");
  CHECK(asked.reader.end()->interrupts[0].message == "Delete?");
  CHECK(about(asked) == R"({"question":"Delete?","files":20})");
  CHECK(asked.reader.end()->interrupts[1].message == "And these?");
}

TEST_CASE("RunReader: an interrupt that names a tool call shows what is called") {
  const std::string call =
      R"({"type":"TOOL_CALL_CHUNK","toolCallId":"1","toolCallName":"pay","delta":"{\"sum\":9}"})";
  const std::string result = R"({"type":"TOOL_CALL_RESULT","toolCallId":"1","content":"paid"})";
  const auto end = [](const std::string& more) {
    return R"({"type":"RUN_FINISHED","outcome":{"type":"interrupt","interrupts":[
        {"id":"i","reason":"tool_call","toolCallId":"1")" +
           more + "}]}}";
  };
  const auto about = [](const Bench& bench) { return bench.reader.end()->interrupts.at(0).about.text; };
  Bench bare, more, over, large, shown;
  bare.take({call, end("")});
  CHECK(about(bare) == R"({"tool":"pay","arguments":{"sum":9}})");
  more.take({call, end(R"(,"metadata":{"tool":"Pay","risk":"high"})")});
  CHECK(about(more) == R"({"tool":"pay","arguments":{"sum":9},"risk":"high"})");
  Bench again;
  again.take({call, R"({"type":"TOOL_CALL_CHUNK","toolCallId":"2","toolCallName":"look","delta":"{}"})",
              R"({"type":"TOOL_CALL_CHUNK","toolCallId":"1","toolCallName":"pay","delta":"{\"sum\":99}"})",
              end("")});
  CHECK(about(again) == R"({"tool":"pay","arguments":{"sum":99}})");
  over.take({call, result, end("")});
  CHECK(about(over).empty());
  const std::string text(50'000, 'x');
  large.take({R"({"type":"TOOL_CALL_CHUNK","toolCallId":"1","toolCallName":"pay","delta":")" + text + "\"}",
              end("")});
  CHECK(about(large).size() < 10'000);
  shown.take({R"({"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"assistant","toolCalls":[
                  {"id":"1","function":{"name":"pay","arguments":"{}"}}]}]})",
              end("")});
  CHECK(about(shown) == R"({"tool":"pay","arguments":{}})");
  Bench many;
  std::string others;
  for (int i = 0; i < 1'000; ++i) others += R"(},{"id":"i","toolCallId":"1")";
  many.take({call, end(others)});
  CHECK(many.reader.end()->interrupts.size() == 1'001);
  CHECK(many.reader.end()->interrupts.back().about.empty());
}

TEST_CASE("RunReader: anything but an event is refused") {
  for (const char* text : {"", "{", "[]", "7", "{}", R"({"type":7})"}) {
    RunReader reader;
    CHECK_FALSE(reader.take(text).has_value());
  }
}

TEST_CASE("RunReader: arguments of open calls past their limit are refused, and the error names it") {
  const std::string args =
      R"({"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":")" + std::string(60, 'x') + "\"}";
  const std::string start = R"({"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"})";
  RunReader reader(100);
  // Calls that have ended no longer count.
  for (int i = 0; i < 10; ++i) {
    REQUIRE(reader.take(start));
    REQUIRE(reader.take(args));
    CHECK(reader.held() > 60);
    REQUIRE(reader.take(R"({"type":"TOOL_CALL_END","toolCallId":"c"})"));
    CHECK(reader.held() == 0);
  }
  REQUIRE(reader.take(start));
  REQUIRE(reader.take(args));
  const auto more = reader.take(args);
  REQUIRE_FALSE(more);
  CHECK(more.error().code == base::ErrorCode::too_large);
  CHECK(more.error().for_caller.find("100 bytes (outbound.tool_arguments_max)") != std::string::npos);
}

}  // namespace run_reader_test
