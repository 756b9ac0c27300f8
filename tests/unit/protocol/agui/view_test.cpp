#include "protocol/chat/protocol.h"

#include <doctest/doctest.h>

#include "json/document.h"
#include "run.h"

namespace agui_view_test {

using namespace baton;
using task::EventBody;
using task::Part;
using task::State;
using test::facts_of;
using test::log_of;
using test::message_of;
using test::shown;
using test::status_of;
using Lines = std::vector<std::string>;

namespace {

constexpr const char* kStart = R"({"type":"RUN_STARTED","threadId":"thread-1","runId":"run-1"})";
constexpr const char* kFinish = R"({"type":"RUN_FINISHED","threadId":"thread-1","runId":"run-1"})";

// The frames between the run's start and its end.
Lines inside(const std::vector<EventBody>& bodies, bool newer = false) {
  std::vector<EventBody> all = bodies;
  all.emplace_back(status_of(State::completed));
  Lines lines = shown(facts_of(newer), all);
  REQUIRE(lines.size() >= 2);
  CHECK(lines.back() == kFinish);
  return {lines.begin() + 1, lines.end() - 1};
}

std::string last(const protocol::chat::RunFacts& facts, const std::vector<EventBody>& bodies) {
  return shown(facts, bodies).back();
}

task::TextDelta text(const char* id, const char* piece, bool first, bool ends) {
  return {{id}, 0, piece, first, ends};
}

task::ArtifactChunk chunk(const char* id, std::vector<Part> parts, bool append, bool ends) {
  task::ArtifactChunk made;
  made.artifact.id = {id};
  made.artifact.parts = std::move(parts);
  made.append = append;
  made.last_chunk = ends;
  return made;
}

}  // namespace

TEST_CASE("AG-UI view: the first event starts the run, with the members that the client's version knows") {
  auto facts = facts_of(false);
  CHECK(shown(facts, {status_of(State::submitted)}) == Lines{kStart});
  facts.newer = true;
  facts.parent_run = "run-0";
  CHECK(shown(facts, {status_of(State::working)}) ==
        Lines{R"({"type":"RUN_STARTED","threadId":"thread-1","runId":"run-1","parentRunId":"run-0",)"
              R"("protocolVersion":"1.0"})"});
}

TEST_CASE("AG-UI view: every frame has the time of its event") {
  protocol::chat::Frames frames;
  const auto view = protocol::chat::agui_protocol().view(facts_of(false));
  for (const auto& event : log_of({status_of(State::submitted), status_of(State::completed)})) {
    view->show(event, frames);
  }
  REQUIRE(frames.all().size() == 2);
  CHECK(frames.all()[0].data.ends_with(R"(,"timestamp":1})"));
  CHECK(frames.all()[1].data.ends_with(R"(,"timestamp":2})"));
  CHECK(frames.all()[0].event.empty());
}

TEST_CASE("AG-UI view: streamed text is one message with its pieces") {
  CHECK(inside({text("m", "Hel", true, false), text("m", "lo", false, true)}) ==
        Lines{R"({"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"})",
              R"({"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"Hel"})",
              R"({"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"lo"})",
              R"({"type":"TEXT_MESSAGE_END","messageId":"m"})"});
}

TEST_CASE("AG-UI view: an empty text and an end without a start are not shown") {
  CHECK(inside({text("m", "", true, true)}).empty());
  CHECK(inside({text("m", "", false, true)}).empty());
}

TEST_CASE("AG-UI view: a restarted reply is another message, and open messages are closed at the end") {
  CHECK(inside({text("m", "a", true, false), text("m", "b", true, false)}) ==
        Lines{R"({"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"})",
              R"({"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"a"})",
              R"({"type":"TEXT_MESSAGE_END","messageId":"m"})",
              R"({"type":"TEXT_MESSAGE_START","messageId":"m~2","role":"assistant"})",
              R"({"type":"TEXT_MESSAGE_CONTENT","messageId":"m~2","delta":"b"})",
              R"({"type":"TEXT_MESSAGE_END","messageId":"m~2"})"});
}

TEST_CASE("AG-UI view: a server's call and its result, with the parent only if it is the last message") {
  CHECK(
      inside({text("m", "Let me see", true, true), task::ToolCall{"c1", "look", {R"({"q": 1})"}},
              task::ToolResult{"c1", {R"("fine")"}, {}}, task::ToolCall{"c2", "look", {}},
              task::ToolResult{"c2", {R"({"a":[1]})"}, {}}, task::ToolResult{"c2", {R"("again")"}, {}},
              task::ToolCall{"c3", "look", {}}, task::ToolResult{"c3", {}, "no luck"}}) ==
      Lines{R"({"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"})",
            R"({"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"Let me see"})",
            R"({"type":"TEXT_MESSAGE_END","messageId":"m"})",
            R"({"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"look","parentMessageId":"m"})",
            R"({"type":"TOOL_CALL_ARGS","toolCallId":"c1","delta":"{\"q\": 1}"})",
            R"({"type":"TOOL_CALL_END","toolCallId":"c1"})",
            R"({"type":"TOOL_CALL_RESULT","messageId":"task-1-e3","toolCallId":"c1","content":"fine"})",
            R"({"type":"TOOL_CALL_START","toolCallId":"c2","toolCallName":"look"})",
            R"({"type":"TOOL_CALL_ARGS","toolCallId":"c2","delta":"{}"})",
            R"({"type":"TOOL_CALL_END","toolCallId":"c2"})",
            R"({"type":"TOOL_CALL_RESULT","messageId":"task-1-e5","toolCallId":"c2",)"
            R"("content":"{\"a\":[1]}"})",
            R"({"type":"TOOL_CALL_START","toolCallId":"c3","toolCallName":"look"})",
            R"({"type":"TOOL_CALL_ARGS","toolCallId":"c3","delta":"{}"})",
            R"({"type":"TOOL_CALL_END","toolCallId":"c3"})",
            R"({"type":"TOOL_CALL_RESULT","messageId":"task-1-e8","toolCallId":"c3","content":"no luck"})"});
}

TEST_CASE("AG-UI view: a call whose id was used gets a new one, and its result uses it too") {
  const Lines lines = inside({task::ToolCall{"c", "look", {}}, task::ToolResult{"c", {"1"}, {}},
                              task::ToolCall{"c", "look", {}}, task::ToolResult{"c", {"2"}, {}}});
  REQUIRE(lines.size() == 8);
  CHECK(lines[4] == R"({"type":"TOOL_CALL_START","toolCallId":"c~2","toolCallName":"look"})");
  CHECK(lines[7] ==
        R"({"type":"TOOL_CALL_RESULT","messageId":"task-1-e4","toolCallId":"c~2","content":"2"})");
}

TEST_CASE("AG-UI view: a client's call ends the run without an interrupt, and 1.0 gets the open calls") {
  task::ToolCall call{"c1", "confirm", {R"({"n":15})"}};
  call.by_client = true;
  const std::vector<EventBody> bodies{
      call,
      status_of(State::input_required,
                message_of("s", {Part::of_text("The agent is waiting for the result of the tool confirm."),
                                 Part::of_data({R"({"toolCall":{"id":"c1","name":"confirm"}})"})}),
                "c1")};
  const Lines lines = shown(facts_of(false), bodies);
  REQUIRE(lines.size() == 5);
  CHECK(lines[1] == R"({"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"confirm"})");
  CHECK(lines[4] == kFinish);
  CHECK(last(facts_of(true), bodies) == R"({"type":"RUN_FINISHED","threadId":"thread-1","runId":"run-1",)"
                                        R"("outcome":{"type":"success","pendingToolCallIds":["c1"]}})");
}

TEST_CASE("AG-UI view: a result that the client gave is not sent back to it") {
  task::Message answer = message_of("u", {Part::of_data({R"({"toolResult":{"id":"c1","content":"ok"}})"})});
  answer.role = task::Role::user;
  CHECK(inside({status_of(State::submitted), task::MessageAdded{answer},
                task::ToolResult{"c1", {R"("ok")"}, {}}})
            .empty());
  CHECK(inside({task::ToolResult{"c0", {R"("of an earlier run")"}, {}}}).size() == 1);
}

TEST_CASE("AG-UI view: an ask is its prompt as text and an interrupt") {
  const auto asked = [](std::vector<Part> parts) {
    return std::vector<EventBody>{
        status_of(State::input_required, message_of("q", std::move(parts)), "ask-1")};
  };
  CHECK(shown(facts_of(false), asked({Part::of_text("Delete 15 files?")})) ==
        Lines{kStart, R"({"type":"TEXT_MESSAGE_START","messageId":"q","role":"assistant"})",
              R"({"type":"TEXT_MESSAGE_CONTENT","messageId":"q","delta":"Delete 15 files?"})",
              R"({"type":"TEXT_MESSAGE_END","messageId":"q"})",
              R"({"type":"RUN_FINISHED","threadId":"thread-1","runId":"run-1","outcome":)"
              R"({"type":"interrupt","interrupts":[{"id":"ask-1","reason":"confirmation",)"
              R"("message":"Delete 15 files?"}]}})"});
  CHECK(last(facts_of(true), asked({Part::of_text("Which?"), Part::of_data({R"({"list":[1]})"}),
                                    Part::of_data({R"({"schema":{"type":"string"}})"})})) ==
        R"({"type":"RUN_FINISHED","threadId":"thread-1","runId":"run-1","outcome":)"
        R"({"type":"interrupt","interrupts":[{"id":"ask-1","reason":"input_required","message":"Which?",)"
        R"("responseSchema":{"type":"string"},"metadata":{"details":[{"list":[1]}]}}]}})");
}

TEST_CASE("AG-UI view: authorisation is an interrupt with its URL") {
  auto facts = facts_of(false);
  facts.tools = {R"([{"name":"confirmAction"}])"};
  facts.confirm_tool = "confirmAction";
  const auto auth = status_of(
      State::auth_required,
      message_of("q", {Part::of_text("Sign in"), Part::of_data({R"({"url":"https://example.org/in"})"})}),
      "a");
  CHECK(last(facts, {auth}) ==
        R"({"type":"RUN_FINISHED","threadId":"thread-1","runId":"run-1","outcome":)"
        R"({"type":"interrupt","interrupts":[{"id":"a","reason":"baton:auth","message":"Sign in",)"
        R"("metadata":{"url":"https://example.org/in"}}]}})");
}

TEST_CASE("AG-UI view: an ask is a call of the confirming tool if the client offers it") {
  auto facts = facts_of(true);
  facts.confirm_tool = "confirmAction";
  const std::vector<EventBody> bodies{
      status_of(State::input_required, message_of("q", {Part::of_text("Delete 15 files?")}), "ask-1")};
  CHECK(last(facts, bodies).find("interrupt") != std::string::npos);
  facts.tools = {R"([{"name":"other"},{"name":"confirmAction"}])"};
  const Lines lines = shown(facts, bodies);
  REQUIRE(lines.size() == 8);
  CHECK(lines[4] == R"({"type":"TOOL_CALL_START","toolCallId":"ask-1","toolCallName":"confirmAction",)"
                    R"("parentMessageId":"q"})");
  CHECK(lines[5] == R"({"type":"TOOL_CALL_ARGS","toolCallId":"ask-1",)"
                    R"("delta":"{\"message\":\"Delete 15 files?\"}"})");
  CHECK(lines[7] == R"({"type":"RUN_FINISHED","threadId":"thread-1","runId":"run-1",)"
                    R"("outcome":{"type":"success","pendingToolCallIds":["ask-1"]}})");
}

TEST_CASE("AG-UI view: state, patches and steps are shown as the agent sent them") {
  CHECK(
      inside({task::StateSnapshot{{R"({"n": 1})"}},
              task::StateDelta{{R"([{"op":"replace","path":"/n","value":2}])"}},
              task::StateDelta{{R"([{"op":"replace","path":"n","value":2}])"}},
              task::Step{"plan", task::Step::Phase::start}, task::Step{"plan", task::Step::Phase::finish}}) ==
      Lines{R"({"type":"STATE_SNAPSHOT","snapshot":{"n": 1}})",
            R"({"type":"STATE_DELTA","delta":[{"op":"replace","path":"/n","value":2}]})",
            R"({"type":"STEP_STARTED","stepName":"plan"})", R"({"type":"STEP_FINISHED","stepName":"plan"})"});
}

TEST_CASE("AG-UI view: a step within a step of the same name is left out, and inner steps close first") {
  using Phase = task::Step::Phase;
  CHECK(inside({task::Step{"a", Phase::start}, task::Step{"a", Phase::start}, task::Step{"b", Phase::start},
                task::Step{"a", Phase::finish}, task::Step{"c", Phase::finish}}) ==
        Lines{R"({"type":"STEP_STARTED","stepName":"a"})", R"({"type":"STEP_STARTED","stepName":"b"})",
              R"({"type":"STEP_FINISHED","stepName":"b"})", R"({"type":"STEP_FINISHED","stepName":"a"})"});
}

TEST_CASE("AG-UI view: reasoning has ids, except for clients that do not know them") {
  const std::vector<EventBody> bodies{task::ReasoningDelta{{"s"}, "Hm", true, false},
                                      task::ReasoningDelta{{"s"}, "", false, true}};
  const Lines with_ids{R"({"type":"REASONING_START","messageId":"s"})",
                       R"({"type":"REASONING_MESSAGE_START","messageId":"s","role":"reasoning"})",
                       R"({"type":"REASONING_MESSAGE_CONTENT","messageId":"s","delta":"Hm"})",
                       R"({"type":"REASONING_MESSAGE_END","messageId":"s"})",
                       R"({"type":"REASONING_END","messageId":"s"})"};
  CHECK(inside(bodies, true) == with_ids);
  CHECK(inside(bodies) == with_ids);
  auto facts = test::facts_of(false);
  facts.old_reasoning = true;
  Lines old = test::shown(facts, bodies);
  REQUIRE(!old.empty());
  old.erase(old.begin());  // RUN_STARTED
  CHECK(old == Lines{R"({"type":"THINKING_START"})", R"({"type":"THINKING_TEXT_MESSAGE_START"})",
                     R"({"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"Hm"})",
                     R"({"type":"THINKING_TEXT_MESSAGE_END"})", R"({"type":"THINKING_END"})"});
  facts.newer = true;
  Lines newer = test::shown(facts, bodies);
  newer.erase(newer.begin());
  CHECK(newer == with_ids);
}

TEST_CASE("AG-UI view: activities as a whole and as patches") {
  CHECK(inside({task::Activity{"p", "PLAN", {R"({"steps":[]})"}, {}},
                task::Activity{"p", "PLAN", {}, {R"([{"op":"add","path":"/steps/-","value":"x"}])"}},
                task::Activity{"p", "PLAN", {}, {R"([{"op":"no"}])"}},
                task::Activity{"p", "PLAN", {"1"}, {}}}) ==
        Lines{R"({"type":"ACTIVITY_SNAPSHOT","messageId":"p","activityType":"PLAN","content":{"steps":[]}})",
              R"({"type":"ACTIVITY_DELTA","messageId":"p","activityType":"PLAN",)"
              R"("patch":[{"op":"add","path":"/steps/-","value":"x"}]})"});
}

TEST_CASE("AG-UI view: subagents are shown to 1.0 only, each invocation with its own id") {
  using Phase = task::Subagent::Phase;
  const std::vector<EventBody> bodies{
      task::Subagent{"t2", "helper", Phase::started, {}}, task::Subagent{"t2", "helper", Phase::finished, {}},
      task::Subagent{"t2", "helper", Phase::started, {}}, task::Subagent{"t2", "helper", Phase::failed, "no"},
      task::Subagent{"t3", "other", Phase::finished, {}}, task::Subagent{"t4", "late", Phase::started, {}}};
  CHECK(inside(bodies, false).empty());
  CHECK(inside(bodies, true) == Lines{R"({"type":"SUBAGENT_STARTED","subagentRunId":"t2","name":"helper"})",
                                      R"({"type":"SUBAGENT_FINISHED","subagentRunId":"t2"})",
                                      R"({"type":"SUBAGENT_STARTED","subagentRunId":"t2~2","name":"helper"})",
                                      R"({"type":"SUBAGENT_ERROR","subagentRunId":"t2~2","message":"no"})",
                                      R"({"type":"SUBAGENT_STARTED","subagentRunId":"t3","name":"other"})",
                                      R"({"type":"SUBAGENT_FINISHED","subagentRunId":"t3"})",
                                      R"({"type":"SUBAGENT_STARTED","subagentRunId":"t4","name":"late"})",
                                      R"({"type":"SUBAGENT_FINISHED","subagentRunId":"t4"})"});
}

TEST_CASE("AG-UI view: a subagent that is open while the run waits is shown as suspended") {
  const Lines lines =
      shown(facts_of(true), {task::Subagent{"t2", "helper", task::Subagent::Phase::started, {}},
                             status_of(State::input_required, {}, "a")});
  REQUIRE(lines.size() == 4);
  CHECK(lines[2] == R"({"type":"SUBAGENT_FINISHED","subagentRunId":"t2","outcome":{"type":"suspended"}})");
}

TEST_CASE("AG-UI view: custom events and notes on progress") {
  task::StatusChanged note = status_of(State::working, message_of("n", {Part::of_text("half way")}));
  note.metadata = {R"({"progress":0.5})"};
  CHECK(inside({task::Custom{"mood", {}}, task::Custom{"mood", {"[1]"}}, status_of(State::working), note}) ==
        Lines{R"({"type":"CUSTOM","name":"mood","value":null})",
              R"({"type":"CUSTOM","name":"mood","value":[1]})",
              R"({"type":"CUSTOM","name":"status","value":{"message":"half way","progress":0.5}})"});
}

TEST_CASE("AG-UI view: an artifact's texts are a message, and its other parts have the A2A form") {
  CHECK(inside({chunk("task-1-a1.1", {Part::of_text("a")}, false, false),
                chunk("task-1-a1.1", {Part::of_text("b")}, true, true),
                chunk("report", {Part::of_text("x"), Part{Part::Kind::url, "https://e.org/x", {}, {}, {}}},
                      false, true)}) ==
        Lines{R"({"type":"TEXT_MESSAGE_START","messageId":"task-1-a1.1","role":"assistant"})",
              R"({"type":"TEXT_MESSAGE_CONTENT","messageId":"task-1-a1.1","delta":"a"})",
              R"({"type":"TEXT_MESSAGE_CONTENT","messageId":"task-1-a1.1","delta":"b"})",
              R"({"type":"TEXT_MESSAGE_END","messageId":"task-1-a1.1"})",
              R"({"type":"TEXT_MESSAGE_START","messageId":"report~task-1-e3","role":"assistant"})",
              R"({"type":"TEXT_MESSAGE_CONTENT","messageId":"report~task-1-e3","delta":"x"})",
              R"({"type":"TEXT_MESSAGE_END","messageId":"report~task-1-e3"})",
              R"({"type":"CUSTOM","name":"artifact","value":{"taskId":"task-1","contextId":"thread-1",)"
              R"("artifact":{"artifactId":"report","parts":[{"url":"https://e.org/x"}]},)"
              R"("append":false,"lastChunk":true}})"});
}

TEST_CASE("AG-UI view: a completed task's message is shown as text, and its data as the result") {
  const auto done =
      status_of(State::completed, message_of("d", {Part::of_text("Done."), Part::of_data({R"({"n":1})"})}));
  const Lines lines = shown(facts_of(false), {done});
  REQUIRE(lines.size() == 5);
  CHECK(lines[2] == R"({"type":"TEXT_MESSAGE_CONTENT","messageId":"d","delta":"Done."})");
  CHECK(lines[4] == R"({"type":"RUN_FINISHED","threadId":"thread-1","runId":"run-1","result":{"n":1}})");
  CHECK(last(facts_of(false),
             {status_of(State::completed, message_of("d", {Part::of_data({"1"}), Part::of_data({"2"})}))}) ==
        R"({"type":"RUN_FINISHED","threadId":"thread-1","runId":"run-1","result":[1,2]})");
  CHECK(last(facts_of(false), {status_of(State::completed, message_of("d", {Part::of_data({"null"})}))}) ==
        kFinish);
}

TEST_CASE("AG-UI view: an agent's message between two turns of a run is shown too") {
  const Lines lines = inside({task::MessageAdded{message_of("d", {Part::of_text("First.")})}});
  REQUIRE(lines.size() == 3);
  CHECK(lines[1] == R"({"type":"TEXT_MESSAGE_CONTENT","messageId":"d","delta":"First."})");
}

TEST_CASE("AG-UI view: a failure is an error with a code, after open messages are closed") {
  const Lines lines =
      shown(facts_of(false), {text("m", "a", true, false),
                              status_of(State::failed, message_of("f", {Part::of_text("out of luck")}))});
  REQUIRE(lines.size() == 5);
  CHECK(lines[3] == R"({"type":"TEXT_MESSAGE_END","messageId":"m"})");
  CHECK(lines[4] == R"({"type":"RUN_ERROR","message":"out of luck","code":"failed"})");
  CHECK(last(facts_of(true), {status_of(State::rejected)}) ==
        R"({"type":"RUN_ERROR","message":"The agent rejected the request.","code":"rejected"})");
}

TEST_CASE("AG-UI view: a cancelled run is an outcome for 1.0 and an error for older clients") {
  CHECK(last(facts_of(true), {status_of(State::canceled)}) ==
        R"({"type":"RUN_FINISHED","threadId":"thread-1","runId":"run-1","outcome":{"type":"cancelled"}})");
  CHECK(last(facts_of(false), {status_of(State::canceled)}) ==
        R"({"type":"RUN_ERROR","message":"The run was canceled.","code":"cancelled"})");
}

TEST_CASE("AG-UI view: the end of the run has the usage") {
  CHECK(last(facts_of(false),
             {task::Usage{{R"({"model":"m","inputTokens":3,"outputTokens":1})"}},
              task::Usage{{R"({"model":"m","inputTokens":4})"}}, status_of(State::completed)}) ==
        R"({"type":"RUN_FINISHED","threadId":"thread-1","runId":"run-1",)"
        R"("usage":[{"model":"m","inputTokens":7,"outputTokens":1}]})");
}

TEST_CASE("AG-UI view: a withdrawn attempt is closed, and the next one has new ids") {
  task::ToolCall call{"c", "confirm", {}};
  call.by_client = true;
  const Lines lines = inside({text("m", "a", true, false), task::Step{"s", task::Step::Phase::start}, call,
                              task::Withdrawn{}, text("m", "b", true, true), call});
  CHECK(lines == Lines{R"({"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"})",
                       R"({"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"a"})",
                       R"({"type":"STEP_STARTED","stepName":"s"})",
                       R"({"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"confirm",)"
                       R"("parentMessageId":"m"})",
                       R"({"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{}"})",
                       R"({"type":"TOOL_CALL_END","toolCallId":"c"})",
                       R"({"type":"TEXT_MESSAGE_END","messageId":"m"})",
                       R"({"type":"STEP_FINISHED","stepName":"s"})",
                       R"({"type":"TEXT_MESSAGE_START","messageId":"m~2","role":"assistant"})",
                       R"({"type":"TEXT_MESSAGE_CONTENT","messageId":"m~2","delta":"b"})",
                       R"({"type":"TEXT_MESSAGE_END","messageId":"m~2"})"});
}

TEST_CASE("AG-UI view: nothing comes after the end of the run") {
  CHECK(shown(facts_of(false), {status_of(State::completed), text("m", "a", true, true),
                                status_of(State::submitted), status_of(State::failed)}) ==
        Lines{kStart, kFinish});
}

}  // namespace agui_view_test
