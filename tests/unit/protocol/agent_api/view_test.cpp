#include "protocol/chat/protocol.h"

#include "agent_api_bench.h"
#include "stream_checker.h"

namespace agent_api_view_test {

using namespace baton;
using namespace baton::test::agent_api;

namespace {

using Lines = std::vector<std::string>;

// The frames without the first two (response created, in_progress) and the last response.
Lines middle(const Lines& lines) {
  REQUIRE(lines.size() >= 3);
  return {lines.begin() + 2, lines.end() - 1};
}

Lines content_types(const std::string& message_frame) {
  const Document document = parsed(message_frame);
  Lines types;
  for (const Value content : document.root()["content"]) types.push_back(content["type"].str());
  return types;
}

EventBody call(std::string id, bool by_client = false, std::string arguments = R"({"city":"Paris"})") {
  return task::ToolCall{std::move(id), "weather", {std::move(arguments)}, by_client};
}

}  // namespace

TEST_CASE("Agent API view: an answer in pieces has exactly these frames") {
  const Lines frames = shown_run(
      {text("Hel", true), text("lo"), text("", false, true), status(State::completed)}, facts("response_9"));
  const std::string content =
      R"({"sequence_number":6,"object":"content","status":"completed","index":0,"delta":false,)"
      R"("msg_id":"msg_t1-3","type":"text","text":"Hello"})";
  const std::string message =
      R"({"sequence_number":7,"object":"message","status":"completed","id":"msg_t1-3","type":"message",)"
      R"("role":"assistant","content":[)" +
      content + "]}";
  const Lines expected{
      R"({"sequence_number":0,"object":"response","status":"created","id":"response_9","created_at":1000,)"
      R"("session_id":"s1"})",
      R"({"sequence_number":1,"object":"response","status":"in_progress","id":"response_9","created_at":1000,)"
      R"("session_id":"s1"})",
      R"({"sequence_number":2,"object":"message","status":"created","id":"msg_t1-3","type":"message",)"
      R"("role":"assistant"})",
      R"({"sequence_number":3,"object":"message","status":"in_progress","id":"msg_t1-3","type":"message",)"
      R"("role":"assistant"})",
      R"({"sequence_number":4,"object":"content","status":"in_progress","index":0,"delta":true,)"
      R"("msg_id":"msg_t1-3","type":"text","text":"Hel"})",
      R"({"sequence_number":5,"object":"content","status":"in_progress","index":0,"delta":true,)"
      R"("msg_id":"msg_t1-3","type":"text","text":"lo"})",
      content,
      message,
      R"({"sequence_number":8,"object":"response","status":"completed","id":"response_9","created_at":1000,)"
      R"("completed_at":1005,"output":[)" +
          message + R"(],"session_id":"s1"})",
  };
  CHECK(frames == expected);
}

TEST_CASE("Agent API view: the documents' example gives the same objects in the same order") {
  const Lines frames =
      shown_run({text("Hello", true), text(", "), text("world!", false, true), status(State::completed)});
  StreamChecker checker(frames);
  CHECK(kinds_of(frames) == Lines{"response created", "response in_progress", "message created message",
                                  "message in_progress message", "content in_progress text delta",
                                  "content in_progress text delta", "content in_progress text delta",
                                  "content completed text", "message completed message",
                                  "response completed"});
  CHECK(parsed(frames[7]).root()["text"].string() == "Hello, world!");
  CHECK(checker.output() == checker.completed());
}

TEST_CASE("Agent API view: a response's id is from the request, or made of its task and run") {
  const auto id_of = [](const Lines& frames) { return parsed(frames.front()).root()["id"].str(); };
  const std::vector<EventBody> run{status(State::working), status(State::completed)};
  CHECK(id_of(shown(log(run), facts("mine"))) == "mine");
  CHECK(id_of(shown(log(run))) == "response_t1");
  CHECK(id_of(shown(log(run, 8))) == "response_t1-8");
}

TEST_CASE("Agent API view: reasoning is a separate message") {
  const Lines frames = shown_run({task::ReasoningDelta{{"z"}, "Hm", true, false},
                                  task::ReasoningDelta{{"z"}, "m.", false, true}, text("Yes.", true, true),
                                  status(State::completed)});
  StreamChecker checker(frames);
  CHECK(middle(kinds_of(frames)) ==
        Lines{"message created reasoning", "message in_progress reasoning", "content in_progress text delta",
              "content in_progress text delta", "content completed text", "message completed reasoning",
              "message created message", "message in_progress message", "content in_progress text delta",
              "content completed text", "message completed message"});
  CHECK(checker.output().size() == 2);
}

TEST_CASE("Agent API view: an agent's tool is shown as a call and an output") {
  const Lines frames =
      shown_run({call("c1"), task::ToolResult{"c1", {R"("22 °C")"}, {}}, status(State::completed)});
  StreamChecker checker(frames);
  CHECK(middle(kinds_of(frames)) == Lines{"message in_progress plugin_call", "content completed data",
                                          "message completed plugin_call",
                                          "message in_progress plugin_call_output", "content completed data",
                                          "message completed plugin_call_output"});
  CHECK(frames[3] ==
        R"({"sequence_number":3,"object":"content","status":"completed","index":0,"delta":false,)"
        R"("msg_id":"msg_t1-3","type":"data",)"
        R"("data":{"call_id":"c1","name":"weather","arguments":"{\"city\":\"Paris\"}"}})");
  const Document output = parsed(frames[7]);
  CHECK(output.root()["role"].string() == "tool");
  CHECK(output.root()["content"].size() == 1);
  const Document content = parsed(frames[6]);
  CHECK(content.root()["data"].raw() == R"({"call_id":"c1","name":"weather","output":"22 °C"})");
}

TEST_CASE("Agent API view: outputs are strings, failures are marked, missing arguments are an object") {
  const auto data = [](const EventBody& body) {
    return std::string(parsed(shown_run({body, status(State::completed)})[3]).root()["data"].raw());
  };
  CHECK(data(task::ToolResult{"c1", {R"({"t":22})"}, {}}) == R"({"call_id":"c1","output":"{\"t\":22}"})");
  CHECK(data(task::ToolResult{"c1", {}, "no route"}) ==
        R"({"call_id":"c1","output":"no route","error":"no route"})");
  CHECK(data(task::ToolResult{"c1", {}, {}}) == R"({"call_id":"c1","output":""})");
  CHECK(data(call("c1", false, "")) == R"({"call_id":"c1","name":"weather","arguments":"{}"})");
}

TEST_CASE("Agent API view: a call of a client's tool ends the response") {
  task::Message waiting = said({Part::of_data({R"({"toolCall":{"id":"c1","name":"weather"}})"})});
  const Lines frames = shown_run({call("c1", true), status(State::input_required, waiting, "c1")});
  StreamChecker checker(frames);
  CHECK(middle(kinds_of(frames)) == Lines{"message in_progress function_call", "content completed data",
                                          "message completed function_call"});
  CHECK(checker.status() == "completed");
}

TEST_CASE("Agent API view: a question is a message for people and an approval request for programs") {
  task::Message question =
      said({Part::of_text("Delete 15 files?"), Part::of_data({R"({"schema":{"type":"object"}})"})});
  const Lines frames = shown_run({text("Well", true), status(State::input_required, question, "q1")});
  StreamChecker checker(frames);
  CHECK(kinds_of(frames).back() == "response completed");
  CHECK(middle(kinds_of(frames)) ==
        Lines{"message created message", "message in_progress message", "content in_progress text delta",
              "content completed text", "message completed message", "message created message",
              "message in_progress message", "content in_progress text delta", "content completed text",
              "message completed message", "message in_progress mcp_approval_request",
              "content completed data", "message completed mcp_approval_request"});
  CHECK(parsed(frames[10]).root()["text"].string() == "Delete 15 files?");
  const Document content = parsed(frames[13]);
  const Value request = content.root()["data"];
  CHECK(request.raw() == R"({"id":"q1","name":"ask","arguments":"{\"message\":\"Delete 15 files?\",)"
                         R"(\"schema\":{\"type\":\"object\"}}","server_label":"baton"})");
  for (const Value member : request) CHECK(member.is_string());
}

TEST_CASE("Agent API view: a question without text or without an id shows the rest") {
  const Lines unasked = shown_run({status(State::input_required, std::nullopt, "q1")});
  StreamChecker wordless(unasked);
  CHECK(wordless.output().size() == 1);
  const Lines unnamed = shown_run({status(State::input_required, "Go on?")});
  StreamChecker idless(unnamed);
  CHECK(idless.output().size() == 1);
  CHECK(content_types(idless.output()[0]) == Lines{"text"});
}

TEST_CASE("Agent API view: authorisation shows its URL") {
  task::Message message =
      said({Part::of_text("Please sign in."), Part::of_data({R"({"url":"https://x/in"})"})});
  const Lines frames = shown_run({status(State::auth_required, message, "q1")});
  StreamChecker checker(frames);
  REQUIRE(checker.output().size() == 2);
  CHECK(content_types(checker.output()[0]) == Lines{"text", "text"});
  CHECK(checker.output()[0].find("https://x/in") != std::string::npos);
  CHECK(checker.output()[1].find(R"("name":"authorize")") != std::string::npos);
  CHECK(checker.output()[1].find(R"(\"url\":\"https://x/in\")") != std::string::npos);

  message.parts[0].content = "Sign in at https://x/in.";
  StreamChecker said_already(shown_run({status(State::auth_required, message, "q1")}));
  CHECK(content_types(said_already.output()[0]) == Lines{"text"});
}

TEST_CASE("Agent API view: an artifact is a message with one content per part") {
  const auto file = [](std::string media_type) {
    return Part{Part::Kind::raw, "AAEC", "f", std::move(media_type), {}};
  };
  const Lines frames = shown_run({artifact({Part::of_text("Here:"),
                                            file("image/png"),
                                            file("audio/wav"),
                                            file("video/mp4"),
                                            file("text/csv"),
                                            Part::of_data({"{}"}),
                                            {Part::Kind::text, "no", "", "", {R"({"refusal":true})"}}}),
                                  status(State::completed)});
  StreamChecker checker(frames);
  REQUIRE(checker.output().size() == 1);
  CHECK(content_types(checker.output()[0]) ==
        Lines{"text", "image", "audio", "video", "file", "data", "refusal"});
  CHECK(parsed(checker.output()[0]).root()["metadata"].raw() == R"({"artifact_id":"a1"})");
}

TEST_CASE("Agent API view: an artifact's text continues from chunk to chunk") {
  const Lines frames = shown_run({artifact({Part::of_text("one"), Part::of_text("two")}, false, false),
                                  artifact({Part::of_text("+"), Part::of_data({"{}"})}, true, false),
                                  artifact({Part::of_text("end")}, true, false), status(State::completed)});
  StreamChecker checker(frames);
  REQUIRE(checker.output().size() == 1);
  const Document document = parsed(checker.output()[0]);
  Lines texts;
  for (const Value content : document.root()["content"]) texts.push_back(content["text"].str());
  CHECK(texts == Lines{"one", "two+", "", "end"});
}

TEST_CASE("Agent API view: an artifact that is restarted is removed from the output") {
  const Lines frames =
      shown_run({artifact({Part::of_text("draft")}), artifact({Part::of_text("half")}, false, false),
                 artifact({Part::of_text("final")}), status(State::completed)});
  StreamChecker checker(frames);
  CHECK(checker.completed().size() == 2);
  CHECK(checker.given_up() == 1);
  REQUIRE(checker.output().size() == 1);
  CHECK(checker.output()[0] == checker.completed()[1]);
}

TEST_CASE("Agent API view: withdrawn messages are abandoned and removed from the output") {
  const Lines frames = shown_run({text("a", true, true, "r1"), task::ReasoningDelta{{"z"}, "hm", true, false},
                                  text("half", true, false, "r2"), task::Withdrawn{{{"r1"}, {"r2"}}},
                                  text("b", true, true, "r3"), status(State::completed)});
  StreamChecker checker(frames);
  CHECK(checker.given_up() == 2);
  REQUIRE(checker.output().size() == 1);
  CHECK(checker.output()[0] == checker.completed()[1]);
}

TEST_CASE("Agent API view: empty content and events without a form are not shown") {
  const Lines frames = shown_run(
      {text("", true), text("", false, true), artifact({}), artifact({Part::of_text("")}),
       task::MessageAdded{said({Part::of_text("mine")}, task::Role::user)}, status(State::working, "busy"),
       task::StateSnapshot{{"{}"}}, task::StateDelta{{"[]"}}, task::Step{"s", task::Step::Phase::start},
       task::Custom{"c", {"1"}}, task::Activity{"p", "PLAN", {"{}"}, {}},
       task::Subagent{"x", "y", task::Subagent::Phase::started, {}}, status(State::completed)});
  CHECK(kinds_of(frames) == Lines{"response created", "response in_progress", "response completed"});
  CHECK(StreamChecker(frames).output().empty());
}

TEST_CASE("Agent API view: an agent's message at the end or between turns is shown") {
  const Lines frames =
      shown_run({task::MessageAdded{said({Part::of_text("first")})}, status(State::submitted),
                 status(State::working), status(State::completed, "second")});
  StreamChecker checker(frames);
  REQUIRE(checker.output().size() == 2);
  CHECK(checker.output()[0].find("first") != std::string::npos);
  CHECK(checker.output()[1].find("second") != std::string::npos);
}

TEST_CASE("Agent API view: a failure leaves open messages open") {
  const Lines frames = shown_run(
      {text("a", true, true, "r1"), text("Hel", true, false, "r2"), status(State::failed, "out of memory")});
  StreamChecker checker(frames);
  CHECK(checker.status() == "failed");
  CHECK(checker.open() == 1);
  CHECK(checker.output().size() == 1);
  CHECK(parsed(frames.back()).root()["error"].raw() == R"({"code":"failed","message":"out of memory"})");
}

TEST_CASE("Agent API view: canceled and rejected runs have their own status") {
  const Lines canceled = shown_run({text("Hel", true), status(State::canceled)});
  StreamChecker checker(canceled);
  CHECK(checker.status() == "canceled");
  CHECK(checker.open() == 1);

  const Lines rejected = shown(log({status(State::submitted), status(State::rejected)}));
  CHECK(kinds_of(rejected) == Lines{"response created", "response rejected"});
  CHECK(parsed(rejected.back()).root()["error"].raw() ==
        R"({"code":"rejected","message":"the agent rejected the request"})");
  StreamChecker refused(rejected);
  CHECK(refused.status() == "rejected");
}

TEST_CASE("Agent API view: nothing comes after the end") {
  const Lines frames =
      shown_run({status(State::completed), text("late", true, true), status(State::working)});
  CHECK(frames.size() == 3);
}

TEST_CASE("Agent API view: usage is summed if every report has the counts") {
  const auto usage_of = [](std::vector<std::string> used) {
    std::vector<EventBody> run;
    for (std::string& one : used) run.push_back(task::Usage{{std::move(one)}});
    run.push_back(status(State::completed));
    return std::string(parsed(shown_run(std::move(run)).back()).root()["usage"].raw());
  };
  CHECK(usage_of({}).empty());
  CHECK(usage_of({R"({"provider":"p","model":"m","inputTokens":10,"outputTokens":5,"totalTokens":15,)"
                  R"("reasoningTokens":2,"cachedInputTokens":3})",
                  R"({"inputTokens":1,"outputTokens":1})"}) ==
        R"({"input_tokens":11,"output_tokens":6,"details":[{"provider":"p","model":"m","input_tokens":10,)"
        R"("output_tokens":5,"total_tokens":15,"reasoning_tokens":2,"input_cached_tokens":3},)"
        R"({"input_tokens":1,"output_tokens":1}]})");
}

}  // namespace agent_api_view_test
