#include "protocol/chat/transcript.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "json/document.h"
#include "protocol/chat/protocol.h"
#include "unit/protocol/agkit/run_log.h"

namespace transcript_test {

using namespace baton;
using task::Part;
using task::State;
using test::RunLog;

namespace {

using Lines = std::vector<std::string>;

Lines calls_in(json::Value message) {
  Lines calls;
  for (const json::Value call : message["toolCalls"]) {
    calls.push_back(call["id"].str() + " " + call["function"]["arguments"].str());
  }
  return calls;
}

std::string line_of(const std::string& id, const std::string& content, const Lines& calls) {
  std::string line = id + ": " + content;
  for (const std::string& call : calls) line += " [" + call + "]";
  return line;
}

std::vector<task::Message> messages_of(const RunLog& log, std::string id = "t") {
  protocol::chat::Transcript transcript({std::move(id)});
  for (const task::Event& event : log.events()) transcript.add(event);
  std::vector<task::Message> messages;
  for (auto& entry : transcript.take()) messages.push_back(std::move(entry.message));
  return messages;
}

constexpr const char* kAsked = R"([{"id":"u","role":"user","content":"hi"}])";

// The messages of a reloaded AG-UI page, without the user's.
Lines restored(const RunLog& log) {
  const auto messages = messages_of(log);
  protocol::chat::Frames frames;
  protocol::chat::agui_protocol().show_conversation(test::run_facts(), &messages, {}, frames);
  Lines lines;
  const auto document = json::Document::parse_view(frames.all()[1].data);
  for (const json::Value message : document->root()["messages"]) {
    if (message["role"].string() == "user") continue;
    lines.push_back(line_of(message["id"].str(), message["content"].str(), calls_in(message)));
  }
  return lines;
}

// Builds the messages from a run's stream, as the AG-UI client does.
class Page {
 public:
  void take(json::Value event) {
    const std::string_view type = event["type"].string();
    if (type == "TEXT_MESSAGE_START") {
      messages_.push_back({event["messageId"].str(), {}, {}});
    } else if (type == "MESSAGES_SNAPSHOT") {
      messages_.clear();
      for (const json::Value message : event["messages"]) {
        if (message["role"].string() == "user") continue;
        messages_.push_back({message["id"].str(), message["content"].str(), calls_in(message)});
      }
    } else if (type == "TEXT_MESSAGE_CONTENT") {
      with(event["messageId"].str()).content += event["delta"].str();
    } else if (type == "TOOL_CALL_START") {
      const std::string parent = event["parentMessageId"].str();
      const bool joins = !parent.empty() && messages_.back().id == parent;
      if (!joins) messages_.push_back({event["toolCallId"].str(), {}, {}});
      messages_.back().calls.push_back(event["toolCallId"].str() + " ");
    } else if (type == "TOOL_CALL_ARGS") {
      messages_.back().calls.back() += event["delta"].str();
    } else if (type == "TOOL_CALL_RESULT") {
      messages_.push_back({event["messageId"].str(), event["content"].str(), {}});
    }
  }
  Lines lines() const {
    Lines lines;
    for (const Message& message : messages_) {
      if (message.content.empty() && message.calls.empty()) continue;  // not visible
      lines.push_back(line_of(message.id, message.content, message.calls));
    }
    return lines;
  }

 private:
  struct Message {
    std::string id, content;
    Lines calls;
  };
  Message& with(const std::string& id) { return *std::ranges::find(messages_, id, &Message::id); }
  std::vector<Message> messages_;
};

// `messages`: the client's list; without it, nothing that was shown is taken back.
Lines streamed(const RunLog& log, const std::string& messages = {}) {
  Page page;
  auto facts = test::run_facts();
  facts.messages.text = messages;
  for (const auto& frame : test::frames_of(protocol::chat::agui_protocol(), log, facts)) {
    page.take(json::Document::parse_view(frame.data)->root());
  }
  return page.lines();
}

std::string joined(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// True if no attempt is withdrawn, and the run does not end in an error.
bool is_one_attempt(const RunLog& log) {
  for (const task::Event& event : log.events()) {
    if (std::holds_alternative<task::Withdrawn>(event.body)) return false;
  }
  const State end = task::status_in(log.events().back())->status.state;
  return end == State::completed || task::is_waiting(end);
}

}  // namespace

TEST_CASE("Transcript: messages, calls and results are in order and have the ids of the stream") {
  RunLog log;
  log.begin("Hi").reply("t-r1.1", {"Let me ", "see."}).call("c1", "look", R"({"q":1})").result("c1", "\"x\"");
  log.call("c2", "look", "").result("c2", "null", "gone").reply("t-r1.2", {"It is x."});
  log.chunk("r", {Part::of_text("A "), Part::of_data({"{}"})}, false, false);
  log.chunk("r", {Part::of_text("report")}, true, true).says(State::completed, "Done.");
  CHECK(restored(log) == Lines{R"(t-r1.1: Let me see. [c1 {"q":1}])", "t-e8: x", "c2:  [c2 {}]",
                               "t-e10: gone", "t-r1.2: It is x.", "r~t-e13: A report", "t-e15: Done."});
  CHECK(restored(log) == streamed(log));
  CHECK(messages_of(log).front().id.value == "t-e2");
  CHECK(messages_of(log).front().parts == std::vector{Part::of_text("Hi")});
}

TEST_CASE("Transcript: any restored run equals the page built from its stream") {
  int compared = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    const test::RandomRun run(seed);
    if (!is_one_attempt(run.log())) continue;
    CAPTURE(seed);
    ++compared;
    REQUIRE(joined(restored(run.log())) == joined(streamed(run.log(), kAsked)));
  }
  CHECK(compared > 500);
}

TEST_CASE("Transcript: an open call of the client's tool is restored without its text for other clients") {
  RunLog log;
  log.begin().call("c1", "paint", R"({"color":"blue"})", true);
  log.state(State::input_required,
            {Part::of_text("Needs paint."), Part::of_data({R"({"toolCall":{"id":"c1"}})"})}, "c1");
  CHECK(restored(log) == Lines{R"(c1:  [c1 {"color":"blue"}])"});
}

TEST_CASE("Transcript: a client's result is shown once, even if the agent repeats it") {
  RunLog log;
  log.begin().call("c1", "paint", "{}", true);
  log.state(State::input_required, {Part::of_data({R"({"toolCall":{"id":"c1"}})"})}, "c1");
  task::Message given;
  given.id.value = "m1";
  given.parts = {Part::of_data({R"({"toolResult":{"id":"c1","content":"blue"}})"})};
  log.add(task::MessageAdded{given}).state(State::working).result("c1", "\"blue\"");
  log.says(State::completed, "Painted.");
  CHECK(restored(log) == Lines{"c1:  [c1 {}]", "m1: blue", "t-e9: Painted."});
}

TEST_CASE("Transcript: a broken attempt's output is left out, and users' messages are kept") {
  RunLog log;
  log.begin("Hi").reply("t-r1.1", {"Hal"}).call("c1", "look", "{}").result("c1", "1");
  log.chunk("t-a1", {Part::of_text("draft")}, false, false).call("c2", "look", "{}");
  log.add(task::Withdrawn{{{"t-r1.1"}, {"t-a1"}}});
  log.reply("t-r1.1", {"Hallo"}).call("c1", "look", "{}").result("c1", "2").state(State::completed);
  CHECK(restored(log) == Lines{"t-r1.1~2: Hallo [c1~2 {}]", "t-e14: 2"});
  CHECK(messages_of(log).front().parts == std::vector{Part::of_text("Hi")});
}

TEST_CASE("Transcript: a restarted artifact replaces its text, and a call beside it stays") {
  RunLog log;
  log.begin().chunk("a", {Part::of_text("old")}, false, true).call("c1", "look", "{}");
  log.chunk("a", {Part::of_text("new")}, false, true).chunk("b", {Part::of_text("x")}, false, true);
  log.chunk("b", {Part::of_data({"1"})}, false, true).state(State::completed);
  CHECK(restored(log) == Lines{"a~t-e4:  [c1 {}]", "a~t-e6: new"});
}

TEST_CASE("Transcript: a reply that begins again or is withdrawn leaves the page of an AG-UI client, too") {
  RunLog log;
  log.begin()
      .reply("t-m1.1", {"a draft"})
      .reply("t-m1.2", {"an aside"})
      .call("c1", "look", "{}")
      .result("c1", "1");
  log.add(task::TextDelta{{"t-m1.3"}, 0, "still", true, false}).reply("t-m1.1", {"the answer"});
  log.add(task::TextDelta{{"t-m1.2"}, 0, {}, true, true})
      .add(task::TextDelta{{"t-m1.3"}, 0, " here", false, true});
  log.state(State::completed);
  CHECK(joined(restored(log)) != joined(streamed(log)));
  CHECK(joined(restored(log)) == joined(streamed(log, kAsked)));
  CHECK(messages_of(log).size() == 5);
}

TEST_CASE("Transcript: questions and errors are shown, notes and reasoning are not") {
  RunLog log;
  log.begin().says(State::working, "half way").add(task::ReasoningDelta{{"t-k1.1"}, "hm", true, true});
  log.says(State::input_required, "Sure?", "ask-1").begin("Yes").says(State::failed, "It broke.");
  CHECK(restored(log) == Lines{"t-e6: Sure?", "t-e10: It broke."});
  CHECK(messages_of(log).size() == 4);
}

TEST_CASE("Transcript: after take only new entries are returned") {
  RunLog log;
  log.begin("Hi");
  protocol::chat::Transcript transcript({"t"});
  for (const task::Event& event : log.events()) transcript.add(event);
  CHECK(transcript.take().size() == 1);
  CHECK(transcript.take().empty());
}

}  // namespace transcript_test
