#include <doctest/doctest.h>

#include <set>

#include "protocol/chat/protocol.h"
#include "unit/protocol/agkit/run_log.h"

namespace agkit_view_test {

using namespace baton;
using task::Part;
using task::State;
using test::RunLog;

namespace {

using Lines = std::vector<std::string>;

Lines shown(const RunLog& log, const protocol::chat::RunFacts& facts = test::run_facts()) {
  Lines lines;
  for (const auto& frame : test::frames_of(protocol::chat::agkit_protocol(), log, facts)) {
    CHECK(frame.event.empty());
    lines.push_back(frame.data);
  }
  return lines;
}

// Reads a stream like the client's reducer, and fails where that throws.
struct Client {
  struct Message {
    bool assistant = true;
    std::set<std::string> calls;
  };
  std::vector<Message> messages;
  std::set<std::string> ids, open;
  std::string text;
  bool done = false;

  Message& assistant() {
    if (messages.empty() || !messages.back().assistant) messages.emplace_back();
    return messages.back();
  }
  void take(const std::string& data) {
    CHECK_FALSE(done);
    if (data == "[DONE]") {
      done = true;
      return;
    }
    const auto document = json::Document::parse(data);
    REQUIRE_MESSAGE(document, data);
    take(document->root());
  }
  void take(json::Value event) {
    const std::string_view type = event["type"].string();
    const std::string call = event["toolCallId"].str();
    if (type == "text") {
      CHECK_FALSE(event["content"].string().empty());
      text += event["content"].string();
      assistant();
    } else if (type == "tool-call-start") {
      CHECK(ids.insert(call).second);
      CHECK_FALSE(event["toolCallName"].string().empty());
      open.insert(call);
      assistant().calls.insert(call);
    } else if (type == "tool-call-args") {
      REQUIRE_FALSE(messages.empty());
      CHECK(messages.back().calls.contains(call));
      CHECK(json::Document::parse(event["delta"].str()));
    } else if (type == "tool-call-end") {
      CHECK(ids.contains(call));
    } else if (type == "tool-result") {
      CHECK(open.erase(call) == 1);
      CHECK(event["result"].is_string());
      messages.push_back({false, {}});
    } else if (type == "interrupt") {
      REQUIRE_FALSE(messages.empty());
      CHECK(messages.back().assistant);
      CHECK(event["id"].is_string());
      CHECK(event["reason"].is_string());
    } else {
      CHECK(type == "error");
      CHECK(event["error"].is_string());
    }
  }
};

std::string without(std::string text, std::string_view piece) {
  for (auto at = text.find(piece); at != std::string::npos; at = text.find(piece)) {
    text.erase(at, piece.size());
  }
  return text;
}

}  // namespace

TEST_CASE("AG-Kit view: the seed's basic conversation gives text events and [DONE]") {
  RunLog log;
  log.begin().reply("t-r1.1", {"Hello", " there!", " How can I help you?"}).state(State::completed);
  CHECK(shown(log) == Lines{R"({"type":"text","content":"Hello"})", R"({"type":"text","content":" there!"})",
                            R"({"type":"text","content":" How can I help you?"})", "[DONE]"});
}

TEST_CASE("AG-Kit view: a client tool is start, args and end without a result, and the stream ends") {
  RunLog log;
  log.begin().call("a_b_c", "change-background-color", R"({"color": "blue"})", true);
  log.state(
      State::input_required,
      {Part::of_data({R"({"toolCall":{"id":"a_b_c","name":"change-background-color","arguments":{}}})"})},
      "a_b_c");
  CHECK(shown(log) ==
        Lines{R"({"type":"tool-call-start","toolCallId":"a_b_c","toolCallName":"change-background-color"})",
              R"({"type":"tool-call-args","toolCallId":"a_b_c","delta":"{\"color\": \"blue\"}"})",
              R"({"type":"tool-call-end","toolCallId":"a_b_c"})", "[DONE]"});
}

TEST_CASE("AG-Kit view: the seed's run after a tool result is shown as text") {
  RunLog log(7);
  log.begin().reply("t-r2.1", {"I", "'ve", " successfully", " changed", "."}).state(State::completed);
  CHECK(shown(log) == Lines{R"({"type":"text","content":"I"})", R"({"type":"text","content":"'ve"})",
                            R"({"type":"text","content":" successfully"})",
                            R"({"type":"text","content":" changed"})", R"({"type":"text","content":"."})",
                            "[DONE]"});
}

TEST_CASE("AG-Kit view: a server tool is start, args, end and its result as text, then more text") {
  RunLog log;
  log.begin().call("1", "now", "").result("1", R"("12:00")").reply("t-r1.1", {"Noon."});
  log.state(State::completed);
  CHECK(shown(log) == Lines{R"({"type":"tool-call-start","toolCallId":"1","toolCallName":"now"})",
                            R"({"type":"tool-call-args","toolCallId":"1","delta":"{}"})",
                            R"({"type":"tool-call-end","toolCallId":"1"})",
                            R"({"type":"tool-result","toolCallId":"1","result":"12:00"})",
                            R"({"type":"text","content":"Noon."})", "[DONE]"});
}

TEST_CASE("AG-Kit view: results other than text are JSON text, and errors are their message") {
  RunLog log;
  log.begin().call("1", "a", "{}").call("2", "b", "{}").call("3", "c", "{}");
  log.result("2", R"({"n": 1})").result("1", "", "no network").result("3", R"("x")", "broke");
  log.state(State::completed);
  const Lines lines = shown(log);
  REQUIRE(lines.size() == 13);
  CHECK(lines[9] == R"({"type":"tool-result","toolCallId":"2","result":"{\"n\": 1}"})");
  CHECK(lines[10] == R"({"type":"tool-result","toolCallId":"1","result":"no network"})");
  CHECK(lines[11] == R"({"type":"tool-result","toolCallId":"3","result":"broke"})");
}

TEST_CASE("AG-Kit view: a server call without a result gets one before the stream ends") {
  RunLog log;
  log.begin().call("1", "slow", "{}").call("2", "paint", "{}", true);
  log.state(State::input_required, {Part::of_data({R"({"toolCall":{"id":"2"}})"})}, "2");
  const Lines lines = shown(log);
  REQUIRE(lines.size() == 8);
  CHECK(lines[6] == R"({"type":"tool-result","toolCallId":"1","result":"The tool returned no result."})");
}

TEST_CASE("AG-Kit view: an ask is its prompt as text, then the interrupt") {
  RunLog log;
  log.begin().says(State::input_required, "Delete 15 files?", "int_1");
  CHECK(
      shown(log) ==
      Lines{
          R"({"type":"text","content":"Delete 15 files?"})",
          R"({"type":"interrupt","id":"int_1","reason":"input_required","payload":{"prompt":"Delete 15 files?"}})",
          "[DONE]"});
}

TEST_CASE("AG-Kit view: an interrupt's payload has schema, URL and other data") {
  RunLog log;
  log.begin().state(State::input_required,
                    {Part::of_text("Which?"), Part::of_data({R"({"files":[1,2]})"}),
                     Part::of_data({R"({"schema":{"type":"object"}})"})},
                    "i");
  CHECK(
      shown(log)[1] ==
      R"({"type":"interrupt","id":"i","reason":"input_required","payload":{"prompt":"Which?","schema":{"type":"object"},"details":[{"files":[1,2]}]}})");
  RunLog auth;
  auth.begin().state(State::auth_required,
                     {Part::of_text("Sign in."), Part::of_data({R"({"url":"https://x.example/"})"})}, "i");
  CHECK(
      shown(auth)[1] ==
      R"({"type":"interrupt","id":"i","reason":"auth","payload":{"prompt":"Sign in.","url":"https://x.example/"}})");
}

TEST_CASE("AG-Kit view: an ask without text gets a default, since an interrupt needs a text before it") {
  RunLog log;
  log.begin().add(task::StatusChanged{{State::input_required, std::nullopt, {}}, {}, "i"});
  CHECK(
      shown(log) ==
      Lines{
          R"({"type":"text","content":"The agent needs input."})",
          R"({"type":"interrupt","id":"i","reason":"input_required","payload":{"prompt":"The agent needs input."}})",
          "[DONE]"});
}

TEST_CASE("AG-Kit view: an ask is a call of the confirming tool if the client offers it") {
  protocol::chat::RunFacts facts = test::run_facts();
  facts.confirm_tool = "confirmAction";
  RunLog log;
  log.begin().state(State::input_required,
                    {Part::of_text("Delete?"), Part::of_data({R"({"schema":{"type":"object"}})"})}, "i");
  CHECK(shown(log, facts)[1].find("interrupt") != std::string::npos);
  facts.tools.text = R"([{"name":"other"},{"name":"confirmAction"}])";
  CHECK(
      shown(log, facts) ==
      Lines{
          R"({"type":"tool-call-start","toolCallId":"i","toolCallName":"confirmAction"})",
          R"({"type":"tool-call-args","toolCallId":"i","delta":"{\"message\":\"Delete?\",\"schema\":{\"type\":\"object\"}}"})",
          R"({"type":"tool-call-end","toolCallId":"i"})", "[DONE]"});
  RunLog auth;
  auth.begin().says(State::auth_required, "Sign in.", "i");
  CHECK(shown(auth, facts)[1].find(R"("reason":"auth")") != std::string::npos);
}

TEST_CASE("AG-Kit view: a failure and a refusal are a text and an error") {
  RunLog failed;
  failed.begin().says(State::failed, "out of memory");
  CHECK(shown(failed) == Lines{R"({"type":"text","content":"out of memory"})",
                               R"({"type":"error","error":"out of memory"})", "[DONE]"});
  RunLog rejected;
  rejected.begin().state(State::rejected);
  CHECK(shown(rejected) == Lines{R"({"type":"text","content":"The agent rejected the request."})",
                                 R"({"type":"error","error":"The agent rejected the request."})", "[DONE]"});
}

TEST_CASE("AG-Kit view: a canceled run just ends") {
  RunLog log;
  log.begin().add(task::TextDelta{{"t-r1.1"}, 0, "Hal", true, false}).state(State::canceled);
  CHECK(shown(log) == Lines{R"({"type":"text","content":"Hal"})", "[DONE]"});
}

TEST_CASE("AG-Kit view: replies, artifacts and the last message are separated by a blank line") {
  RunLog log;
  log.begin().reply("t-r1.1", {"One."});
  log.chunk("report", {Part::of_text("Two,")}, false, false)
      .chunk("report", {Part::of_text(" and")}, true, true);
  log.says(State::completed, "Three.");
  CHECK(shown(log) == Lines{R"({"type":"text","content":"One."})", R"({"type":"text","content":"\n\n"})",
                            R"({"type":"text","content":"Two,"})", R"({"type":"text","content":" and"})",
                            R"({"type":"text","content":"\n\n"})", R"({"type":"text","content":"Three."})",
                            "[DONE]"});
}

TEST_CASE("AG-Kit view: a restarted reply and text after a file are separated, text after a result is not") {
  RunLog log;
  log.begin().reply("r", {"One."}).reply("r", {"Two."});
  log.chunk("x", {Part::of_data({"1"})}, false, false).chunk("x", {Part::of_text("Three.")}, true, true);
  log.call("1", "now", "{}").result("1", "2").reply("r", {"Four."}).state(State::completed);
  const std::string gap = R"({"type":"text","content":"\n\n"})";
  const Lines lines = shown(log);
  CHECK(Lines(lines.begin(), lines.begin() + 7) ==
        Lines{R"({"type":"text","content":"One."})", gap, R"({"type":"text","content":"Two."})", gap,
              R"({"type":"text","content":"1"})", gap, R"({"type":"text","content":"Three."})"});
  CHECK(Lines(lines.end() - 3, lines.end()) ==
        Lines{R"({"type":"tool-result","toolCallId":"1","result":"2"})",
              R"({"type":"text","content":"Four."})", "[DONE]"});
}

TEST_CASE("AG-Kit view: files are shown by name and data unchanged") {
  RunLog log;
  Part link{Part::Kind::url, "https://x.example/a.pdf", "a.pdf", "application/pdf", {}};
  Part bare{Part::Kind::url, "https://x.example/b", "", "", {}};
  Part bytes{Part::Kind::raw, "aGk=", "hi.txt", "text/plain", {}};
  log.begin().chunk("x", {link, bare, bytes, Part::of_data({R"({"n":1})"})}, false, true);
  log.state(State::completed);
  const std::string gap = R"({"type":"text","content":"\n\n"})";
  CHECK(shown(log) == Lines{R"({"type":"text","content":"a.pdf: https://x.example/a.pdf"})", gap,
                            R"({"type":"text","content":"https://x.example/b"})", gap,
                            R"_({"type":"text","content":"hi.txt (text/plain, 2 bytes)"})_", gap,
                            R"({"type":"text","content":"{\"n\":1}"})", "[DONE]"});
}

TEST_CASE("AG-Kit view: notes, state, steps and other events without a form are not shown") {
  RunLog log;
  log.begin().says(State::working, "half way");
  log.add(task::StateSnapshot{{"{}"}}).add(task::StateDelta{{"[]"}});
  log.add(task::Step{"s", task::Step::Phase::start}).add(task::Custom{"c", {"1"}});
  log.add(task::ReasoningDelta{{"s"}, "hm", true, true}).add(task::Activity{"a", "PLAN", {"{}"}, {}});
  log.add(task::Subagent{"x", "y", task::Subagent::Phase::started, ""}).add(task::Usage{{"{}"}});
  const Lines lines = shown(log);
  CHECK(lines.empty());
}

TEST_CASE("AG-Kit view: a new attempt closes open calls and uses new ids") {
  RunLog log;
  log.begin().add(task::TextDelta{{"t-r1.1"}, 0, "Let me", true, true}).call("1", "now", "{}");
  log.add(task::Withdrawn{{{"t-r1.1"}}});
  log.add(task::TextDelta{{"t-r1.1"}, 0, "Let me see", true, true}).call("1", "now", "{}");
  log.result("1", R"("12:00")").state(State::completed);
  CHECK(shown(log) ==
        Lines{R"({"type":"text","content":"Let me"})",
              R"({"type":"tool-call-start","toolCallId":"1","toolCallName":"now"})",
              R"({"type":"tool-call-args","toolCallId":"1","delta":"{}"})",
              R"({"type":"tool-call-end","toolCallId":"1"})",
              R"({"type":"tool-result","toolCallId":"1","result":"The tool returned no result."})",
              R"({"type":"text","content":"Let me see"})",
              R"({"type":"tool-call-start","toolCallId":"1-8","toolCallName":"now"})",
              R"({"type":"tool-call-args","toolCallId":"1-8","delta":"{}"})",
              R"({"type":"tool-call-end","toolCallId":"1-8"})",
              R"({"type":"tool-result","toolCallId":"1-8","result":"12:00"})", "[DONE]"});
}

TEST_CASE("AG-Kit view: an agent's message within a run is shown as text, a user's is not") {
  task::Message message;
  message.role = task::Role::agent;
  message.parts = {Part::of_text("First done.")};
  RunLog log;
  log.begin().add(task::MessageAdded{message}).state(State::submitted).state(State::completed);
  CHECK(shown(log) == Lines{R"({"type":"text","content":"First done."})", "[DONE]"});
}

TEST_CASE("AG-Kit view: nothing follows the end of a run") {
  RunLog log;
  log.begin().state(State::completed).reply("t-r1.2", {"late"}).state(State::failed);
  CHECK(shown(log) == Lines{"[DONE]"});
}

TEST_CASE("AG-Kit view: random runs never make the client's reducer throw, and their texts add up") {
  for (unsigned seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    const test::RandomRun run(seed);
    Client client;
    const Lines lines = shown(run.log());
    for (const std::string& line : lines) client.take(line);
    CHECK(client.done);
    if (!run.client_call().empty()) CHECK(client.open.erase(run.client_call()) == 1);
    CHECK(client.open.empty());
    std::string said = without(client.text, "\n\n");
    if (said.ends_with("END")) said.resize(said.size() - 3);
    CHECK(said == run.said());
    CHECK(shown(run.log()) == lines);
  }
}

TEST_CASE("AG-Kit: plain messages are answers, runs are exclusive, leaving cancels, no history is shown") {
  const protocol::chat::Protocol& protocol = protocol::chat::agkit_protocol();
  CHECK(protocol.answers_in_words());
  CHECK(protocol.one_run_at_a_time());
  CHECK(protocol.leaving_cancels());
  protocol::chat::Frames frames;
  CHECK_FALSE(protocol.show_refusal(test::run_facts(), {}, frames));
  CHECK(frames.empty());
  protocol.show_conversation(test::run_facts(), nullptr, {}, frames);
  REQUIRE(frames.all().size() == 1);
  CHECK(frames.all()[0].data == "[DONE]");
}

TEST_CASE("AG-Kit: a client without a message gets the open questions again, but not calls that it has") {
  using protocol::chat::Question;
  protocol::chat::RunFacts facts = test::run_facts();
  const std::vector open{Question{"call", true, false, {}, {}, {}, {}},
                         Question{"q", false, false, "Sure?", {R"({"type":"boolean"})"}, {}, {}},
                         Question{"a", false, true, {}, {}, "https://login.example", {}}};
  const auto shown = [&] {
    protocol::chat::Frames frames;
    protocol::chat::agkit_protocol().show_conversation(facts, nullptr, open, frames);
    Lines lines;
    for (const auto& frame : frames.all()) lines.push_back(frame.data);
    return lines;
  };
  const Lines lines = shown();
  REQUIRE(lines.size() == 5);
  CHECK(lines[0] == R"({"type":"text","content":"Sure?"})");
  CHECK(lines[1] == R"({"type":"interrupt","id":"q","reason":"input_required",)"
                    R"("payload":{"prompt":"Sure?","schema":{"type":"boolean"}}})");
  CHECK(lines[2] == R"({"type":"text","content":"The agent needs authorization."})");
  CHECK(lines[3] ==
        R"({"type":"interrupt","id":"a","reason":"auth",)"
        R"("payload":{"prompt":"The agent needs authorization.","url":"https://login.example"}})");
  CHECK(lines[4] == "[DONE]");

  facts.confirm_tool = "confirm";
  facts.tools = {R"([{"name":"confirm"}])"};
  CHECK(shown() == Lines{lines[2], lines[3], lines[4]});
}

}  // namespace agkit_view_test
