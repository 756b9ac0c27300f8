#include <doctest/doctest.h>

#include "protocol/chat/protocol.h"
#include "unit/protocol/agent_server/stream_reader.h"

namespace agent_server_view_test {

using namespace baton;
using task::Part;
using task::State;
using test::RunLog;

namespace {

// Each frame as "event data".
using Lines = std::vector<std::string>;

test::FrameList frames_of(const RunLog& log, const std::string& response_event = "response") {
  return test::frames_of(*protocol::chat::make_agent_server_protocol(response_event), log);
}

Lines shown(const RunLog& log) {
  Lines lines;
  for (const auto& frame : frames_of(log)) lines.push_back(frame.event + " " + frame.data);
  return lines;
}

// The frames after the two that every run begins with.
Lines shown_after_begin(const RunLog& log) {
  Lines lines = shown(log);
  REQUIRE(lines.size() >= 2);
  lines.erase(lines.begin(), lines.begin() + 2);
  return lines;
}

// The member "output" of the last response.
std::string output_of(const RunLog& log) {
  const auto frames = frames_of(log);
  const auto document = json::Document::parse(frames.back().data);
  REQUIRE(document);
  return std::string(document->root()["output"].raw());
}

RunLog clock_question() {
  RunLog log;
  log.begin("现在几点了").call("call_dc5249a5328f40c0b92eb8b1", "tool_now", "{}");
  log.result("call_dc5249a5328f40c0b92eb8b1", R"("2025-11-12T18:05:28.058211+00:00")");
  log.reply("t-r1.1", {"现在", "是北京时间 2025 年 11 月 13 日 凌晨 2:05。"}).state(State::completed);
  return log;
}

}  // namespace

TEST_CASE("Agent Server view: the seed's clock question gives the seed's events, fields and order") {
  const std::string call =
      R"({"sequence_number":2,"object":"plugin_call","status":"completed","id":"msg_t-4","type":"plugin_call","role":"assistant","content":[{"object":"content","type":"data","delta":false,"data":{"type":"tool_use","id":"call_dc5249a5328f40c0b92eb8b1","name":"tool_now","input":{}}}]})";
  const std::string output =
      R"({"sequence_number":3,"object":"plugin_call_output","status":"completed","id":"msg_t-5","type":"plugin_call_output","role":"assistant","content":[{"object":"content","type":"data","delta":false,"data":{"type":"tool_result","id":"call_dc5249a5328f40c0b92eb8b1","name":"tool_now","output":[{"type":"text","text":"2025-11-12T18:05:28.058211+00:00"}]}}]})";
  const std::string message =
      R"({"sequence_number":7,"object":"message","status":"completed","id":"msg_t-r1.1","type":"message","role":"assistant","content":[{"object":"content","type":"text","text":"现在是北京时间 2025 年 11 月 13 日 凌晨 2:05。"}]})";
  CHECK(
      shown(clock_question()) ==
      Lines{
          R"(response {"sequence_number":0,"object":"response","status":"created","id":"response_t","created_at":1762941912})",
          R"(response {"sequence_number":1,"object":"response","status":"in_progress","id":"response_t","created_at":1762941912})",
          "plugin_call " + call, "plugin_call_output " + output,
          R"(message {"sequence_number":4,"object":"message","status":"in_progress","id":"msg_t-r1.1","type":"message","role":"assistant"})",
          R"(text {"sequence_number":5,"object":"content","status":"in_progress","type":"text","index":0,"delta":true,"msg_id":"msg_t-r1.1","text":"现在"})",
          R"(text {"sequence_number":6,"object":"content","status":"in_progress","type":"text","index":0,"delta":true,"msg_id":"msg_t-r1.1","text":"是北京时间 2025 年 11 月 13 日 凌晨 2:05。"})",
          "message " + message,
          R"(response {"sequence_number":8,"object":"response","status":"completed","id":"response_t","created_at":1762941912,"output":[)" +
              call + "," + output + "," + message + "]}"});
}

TEST_CASE("Agent Server view: frames that the client has are not written, and the others are the same") {
  const auto protocol = protocol::chat::make_agent_server_protocol("response");
  for (unsigned seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    const test::RandomRun run(seed);
    const Lines all = shown(run.log());
    for (std::size_t has = 0; has <= all.size(); ++has) {
      const auto view = protocol->view(test::run_facts());
      protocol::chat::Frames frames;
      frames.skip(static_cast<std::int64_t>(has));
      for (const task::Event& event : run.log().events()) view->show(event, frames);
      Lines rest(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(has));
      for (const auto& frame : frames.all()) rest.push_back(frame.event + " " + frame.data);
      CHECK(rest == all);
    }
  }
}

TEST_CASE("Agent Server view: all response objects use the configured event name") {
  int responses = 0;
  for (const auto& frame : frames_of(clock_question(), "message")) {
    CHECK(frame.event != "response");
    if (frame.data.find(R"("object":"response")") == std::string::npos) continue;
    CHECK(frame.event == "message");
    ++responses;
  }
  CHECK(responses == 3);
}

TEST_CASE("Agent Server view: a further run of a task has its own response id") {
  RunLog log(7);
  log.begin().state(State::completed);
  CHECK(shown(log)[0].find(R"("id":"response_t-7")") != std::string::npos);
}

TEST_CASE("Agent Server view: a run that never worked has no in_progress") {
  RunLog log;
  log.state(State::submitted).state(State::canceled);
  const Lines lines = shown(log);
  REQUIRE(lines.size() == 2);
  CHECK(
      lines[1] ==
      R"(response {"sequence_number":1,"object":"response","status":"canceled","id":"response_t","created_at":1762941912,"output":[]})");
}

TEST_CASE("Agent Server view: an ask is a text message and a completed response") {
  RunLog log;
  log.begin().says(State::input_required, "Delete 15 files?", "int_1");
  const std::string message =
      R"({"sequence_number":4,"object":"message","status":"completed","id":"msg_t-4","type":"message","role":"assistant","content":[{"object":"content","type":"text","text":"Delete 15 files?"}]})";
  CHECK(
      shown_after_begin(log) ==
      Lines{
          R"(message {"sequence_number":2,"object":"message","status":"in_progress","id":"msg_t-4","type":"message","role":"assistant"})",
          R"(text {"sequence_number":3,"object":"content","status":"in_progress","type":"text","index":0,"delta":true,"msg_id":"msg_t-4","text":"Delete 15 files?"})",
          "message " + message,
          R"(response {"sequence_number":5,"object":"response","status":"completed","id":"response_t","created_at":1762941912,"output":[)" +
              message + "]}"});
}

TEST_CASE("Agent Server view: an ask shows the authorisation URL and other data, but no schema") {
  RunLog auth;
  auth.begin().state(State::auth_required,
                     {Part::of_text("Sign in."), Part::of_data({R"({"url":"https://x.example/"})"})}, "i");
  CHECK(output_of(auth).find(R"("text":"Sign in.\nhttps://x.example/")") != std::string::npos);
  RunLog ask;
  ask.begin().state(State::input_required,
                    {Part::of_data({R"({"files":[1]})"}), Part::of_data({R"({"schema":{"type":"object"}})"})},
                    "i");
  const std::string output = output_of(ask);
  CHECK(
      output.find(
          R"("content":[{"object":"content","type":"text","text":"The agent needs input."},{"object":"content","type":"data","data":{"files":[1]}}])") !=
      std::string::npos);
}

TEST_CASE("Agent Server view: a call of a client's tool is shown as text") {
  RunLog log;
  log.begin().call("1", "paint", R"({"color":"blue"})", true);
  log.state(State::input_required, {Part::of_data({R"({"toolCall":{"id":"1"}})"})}, "1");
  const Lines lines = shown(log);
  CHECK(lines.size() == 6);
  CHECK(
      output_of(log).find(
          R"_("text":"The agent is waiting for the result of the tool \"paint\" with {\"color\":\"blue\"}.")_") !=
      std::string::npos);
}

TEST_CASE("Agent Server view: arguments are an object, results are text, and errors their message") {
  RunLog log;
  log.begin()
      .call("1", "a", "[1]")
      .call("2", "b", "")
      .result("1", R"({"n": 1})")
      .result("2", "", "no network");
  log.result("3", R"("of an earlier run")").state(State::completed);
  const std::string output = output_of(log);
  CHECK(output.find(R"("name":"a","input":{"value":[1]})") != std::string::npos);
  CHECK(output.find(R"("name":"b","input":{})") != std::string::npos);
  CHECK(output.find(R"("id":"1","name":"a","output":[{"type":"text","text":"{\"n\": 1}"}])") !=
        std::string::npos);
  CHECK(output.find(R"("id":"2","name":"b","output":[{"type":"text","text":"no network"}])") !=
        std::string::npos);
  CHECK(output.find(R"("id":"3","name":"","output":[{"type":"text","text":"of an earlier run"}])") !=
        std::string::npos);
}

TEST_CASE("Agent Server view: a failed run's last response has the error, and open messages are incomplete") {
  RunLog log;
  log.begin().add(task::TextDelta{{"t-r1.1"}, 0, "Hal", true, false}).says(State::failed, "out of memory");
  const Lines lines = shown_after_begin(log);
  REQUIRE(lines.size() == 4);
  CHECK(
      lines[2] ==
      R"(message {"sequence_number":4,"object":"message","status":"incomplete","id":"msg_t-r1.1","type":"message","role":"assistant","content":[{"object":"content","type":"text","text":"Hal"}]})");
  CHECK(
      lines[3] ==
      R"(response {"sequence_number":5,"object":"response","status":"failed","id":"response_t","created_at":1762941912,"error":{"code":"failed","message":"out of memory"},"output":[]})");
  RunLog rejected;
  rejected.begin().state(State::rejected);
  CHECK(
      shown_after_begin(rejected) ==
      Lines{
          R"(response {"sequence_number":2,"object":"response","status":"rejected","id":"response_t","created_at":1762941912,"error":{"code":"rejected","message":"The agent rejected the request."},"output":[]})"});
}

TEST_CASE("Agent Server view: an artifact in chunks is one message, with files and data in its content") {
  RunLog log;
  const Part link{Part::Kind::url, "https://x.example/a.pdf", "a.pdf", "application/pdf", {}};
  log.begin().chunk("report", {Part::of_text("One")}, false, false);
  log.chunk("report", {Part::of_text(" two"), Part::of_data({R"({"n":1})"})}, true, false);
  log.chunk("report", {Part::of_text("Three"), Part::of_text("Four"), link}, true, true);
  log.state(State::completed);
  const Lines lines = shown_after_begin(log);
  REQUIRE(lines.size() == 7);
  CHECK(lines[1].find(R"("index":0,"delta":true,"msg_id":"msg_report","text":"One")") != std::string::npos);
  CHECK(lines[2].find(R"("index":0,"delta":true,"msg_id":"msg_report","text":" two")") != std::string::npos);
  CHECK(lines[3].find(R"("index":2,"delta":true,"msg_id":"msg_report","text":"Three")") != std::string::npos);
  CHECK(lines[4].find(R"("index":3,"delta":true,"msg_id":"msg_report","text":"Four")") != std::string::npos);
  CHECK(lines[5].find(R"("content":[{"object":"content","type":"text","text":"One two"},)"
                      R"({"object":"content","type":"data","data":{"n":1}},)"
                      R"({"object":"content","type":"text","text":"Three"},)"
                      R"({"object":"content","type":"text","text":"Four"},)"
                      R"({"object":"content","type":"file","file_url":"https://x.example/a.pdf")") !=
        std::string::npos);
}

TEST_CASE("Agent Server view: a message completes with its reply or artifact, or when the run stops") {
  RunLog log;
  log.begin().chunk("open", {Part::of_text("x")}, false, false).reply("t-r1.1", {"One"});
  log.chunk("whole", {Part::of_text("y")}, false, true).call("1", "now", "{}").state(State::completed);
  const auto document = json::Document::parse(output_of(log));
  REQUIRE(document);
  Lines ids;
  for (const json::Value object : document->root()) ids.push_back(object["id"].str());
  CHECK(ids == Lines{"msg_t-r1.1", "msg_t-7", "msg_t-8", "msg_t-4"});
}

TEST_CASE("Agent Server view: the id of an artifact's message is unique across tasks") {
  RunLog log;
  log.begin().chunk("a", {Part::of_text("x")}, false, true).chunk("a-t-1", {Part::of_text("y")}, false, true);
  log.state(State::completed);
  const auto document = json::Document::parse(output_of(log));
  REQUIRE(document);
  Lines ids;
  for (const json::Value object : document->root()) ids.push_back(object["id"].str());
  CHECK(ids == Lines{"msg_t-4", "msg_a-t-1"});
}

TEST_CASE("Agent Server view: a message without parts is not shown") {
  RunLog log;
  log.begin().state(State::completed, {});
  CHECK(output_of(log) == "[]");
}

TEST_CASE("Agent Server view: a restarted artifact or reply replaces the old one in the output") {
  RunLog log;
  log.begin().chunk("a", {Part::of_text("old")}, false, true).chunk("a", {Part::of_text("new")}, false, true);
  log.chunk("b", {Part::of_text("draft")}, false, false).chunk("b", {Part::of_text("fair")}, false, false);
  log.state(State::completed);
  const std::string output = output_of(log);
  CHECK(output.find("old") == std::string::npos);
  CHECK(output.find("draft") == std::string::npos);
  CHECK(output.find(R"("id":"msg_t-5")") != std::string::npos);
  CHECK(output.find(R"("id":"msg_t-7")") != std::string::npos);
}

TEST_CASE("Agent Server view: a new attempt closes open messages and has new ids") {
  RunLog log;
  log.begin().reply("t-r1.1", {"whole"}).add(task::TextDelta{{"t-r1.2"}, 0, "ha", true, false});
  log.add(task::Withdrawn{{{"t-r1.1"}, {"t-r1.2"}}}).reply("t-r1.1", {"again"}).state(State::completed);
  const Lines lines = shown_after_begin(log);
  REQUIRE(lines.size() == 10);
  CHECK(lines[5].find(R"("status":"incomplete","id":"msg_t-r1.2")") != std::string::npos);
  CHECK(lines[8].find(R"("id":"msg_t-r1.1-8")") != std::string::npos);
  CHECK(output_of(log) == "[" + lines[8].substr(std::string("message ").size()) + "]");
}

TEST_CASE("Agent Server view: a reply that is withdrawn is no part of the output") {
  RunLog log;
  log.begin().reply("t-r1.1", {"draft"}).add(task::TextDelta{{"t-r1.1"}, 0, "", true, true});
  log.reply("t-r1.2", {"answer"}).state(State::completed);
  CHECK(output_of(log).find("draft") == std::string::npos);
  CHECK(output_of(log).find("answer") != std::string::npos);
}

TEST_CASE("Agent Server view: messages at the end and within the run are shown") {
  task::Message message;
  message.role = task::Role::agent;
  message.parts = {Part::of_text("First done.")};
  RunLog log;
  log.begin().add(task::MessageAdded{message}).state(State::submitted).says(State::completed, "All done.");
  const std::string output = output_of(log);
  CHECK(output.find("First done.") < output.find("All done."));
  CHECK(output.find("All done.") != std::string::npos);
}

TEST_CASE("Agent Server view: notes, state, steps and other events without a form are not shown") {
  RunLog log;
  log.begin().says(State::working, "half way");
  log.add(task::StateSnapshot{{"{}"}}).add(task::StateDelta{{"[]"}});
  log.add(task::Step{"s", task::Step::Phase::start}).add(task::Custom{"c", {"1"}});
  log.add(task::ReasoningDelta{{"s"}, "hm", true, true}).add(task::Activity{"a", "PLAN", {"{}"}, {}});
  log.add(task::Subagent{"x", "y", task::Subagent::Phase::started, ""}).add(task::Usage{{"{}"}});
  CHECK(shown_after_begin(log).empty());
}

TEST_CASE("Agent Server view: nothing follows the end of a run") {
  RunLog log;
  log.begin().state(State::completed).reply("t-r1.2", {"late"}).state(State::failed);
  CHECK(shown_after_begin(log).size() == 1);
}

TEST_CASE("Agent Server view: random runs have the right order, numbers and ids, and deltas add up") {
  for (unsigned seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    const test::RandomRun run(seed);
    test::StreamReader reader;
    for (const auto& frame : frames_of(run.log())) reader.take(frame);
    CHECK(reader.is_over());
    if (run.client_call().empty() && reader.status() != "completed") CHECK(reader.text() == run.said());
    CHECK(reader.text().starts_with(run.said()));
    CHECK(shown(run.log()) == shown(run.log()));
  }
}

TEST_CASE("Agent Server: plain messages are answers, runs are exclusive, and leaving cancels") {
  const auto protocol = protocol::chat::make_agent_server_protocol("response");
  CHECK(protocol->answers_in_words());
  CHECK(protocol->one_run_at_a_time());
  CHECK(protocol->leaving_cancels());
  protocol::chat::Frames frames;
  CHECK_FALSE(protocol->show_refusal(test::run_facts(), {}, frames));
  protocol->show_conversation(test::run_facts(), nullptr, {}, frames);
  CHECK(frames.empty());
}

}  // namespace agent_server_view_test
