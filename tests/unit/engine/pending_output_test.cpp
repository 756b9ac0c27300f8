#include "engine/decide/rules/pending_output.h"

#include <doctest/doctest.h>

namespace pending_output_test {

using namespace baton;
using engine::PendingOutput;

namespace {

task::ArtifactChunk chunk(const std::string& id, const std::string& text, bool append = false) {
  task::ArtifactChunk made;
  made.artifact.id.value = id;
  made.artifact.parts.push_back(task::Part::of_text(text));
  made.append = append;
  return made;
}

const task::TextDelta& text_at(const std::vector<task::EventBody>& events, std::size_t index) {
  return std::get<task::TextDelta>(events.at(index));
}

const task::ReasoningDelta& thought_at(const std::vector<task::EventBody>& events, std::size_t index) {
  return std::get<task::ReasoningDelta>(events.at(index));
}

using Phase = task::Subagent::Phase;

task::Subagent subagent(const std::string& id, Phase phase) {
  return {id, "helper", phase, {}};
}

const task::Subagent& subagent_at(const std::vector<task::EventBody>& events, std::size_t index) {
  return std::get<task::Subagent>(events.at(index));
}

}  // namespace

TEST_CASE("PendingOutput: waiting pieces of one reply become one event") {
  PendingOutput output("t", 2, 1000);
  output.add_text("a");
  output.add_text("b");
  auto first = output.take();
  REQUIRE(first.size() == 1);
  CHECK(text_at(first, 0).text == "ab");
  CHECK(text_at(first, 0).first);
  CHECK_FALSE(text_at(first, 0).last);
  CHECK(text_at(first, 0).reply.value == "t-r2.1");
  output.add_text("c");
  CHECK(output.is_streamed());
  CHECK_FALSE(output.add(task::ToolCall{"c", "f", {}, false}, {}));
  CHECK_FALSE(output.is_streamed());
  output.close_all();
  const auto second = output.take();
  CHECK(text_at(second, 0).text == "c");
  CHECK_FALSE(text_at(second, 0).first);
  CHECK(text_at(second, 0).last);
}

TEST_CASE("PendingOutput: a reply with its own id is continued, replaced and withdrawn") {
  PendingOutput output("t", 1, 1000, agents::AgentSettings::ReplyAs::message);
  output.set_earlier({}, {{{"x"}, "once", true}});
  output.add_reply({{"x"}, " more"});
  auto events = output.take();
  CHECK(text_at(events, 0).reply.value == "x");
  CHECK_FALSE(text_at(events, 0).first);
  CHECK(output.reply()[0].content == "once more");
  output.add_reply({{"x"}, "again", true});
  output.add_text("other");
  output.close_streams();
  events = output.take();
  REQUIRE(events.size() == 3);
  CHECK((text_at(events, 0).first && text_at(events, 0).text == "again"));
  CHECK((text_at(events, 2).reply.value == "x" && text_at(events, 2).last));
  REQUIRE(output.reply().size() == 2);
  CHECK(output.reply()[0].content == "again");
  output.add_reply({{"x"}, "", true});
  events = output.take();
  REQUIRE(events.size() == 1);
  CHECK(task::is_withdrawal(text_at(events, 0)));
  REQUIRE(output.reply().size() == 1);
  CHECK(output.reply()[0].content == "other");
}

TEST_CASE(
    "PendingOutput: replies with their own ids may be open at once; each ends by itself or with the turn") {
  PendingOutput output("t", 1, 1000);
  output.add_reply({{"x"}, "a", true});
  output.add_reply({{"y"}, "b", true});
  CHECK_FALSE(output.add(chunk("c", "z"), {}));
  output.add_reply({{"x"}, "c"});
  output.add_reply({{"x"}, "d", false, true});
  output.close_all();
  const auto events = output.take();
  REQUIRE(events.size() == 5);
  CHECK((text_at(events, 3).text == "cd" && text_at(events, 3).last && !text_at(events, 3).first));
  CHECK(
      (text_at(events, 4).reply.value == "y" && text_at(events, 4).last && text_at(events, 4).text.empty()));
  CHECK(output.begun().size() == 3);
}

TEST_CASE("PendingOutput: content ends the open reply, notes do not") {
  PendingOutput output("t", 1, 1000);
  output.add_text("a");
  CHECK_FALSE(output.add(task::StatusChanged{}, {}));
  output.add_text("b");
  CHECK_FALSE(output.add(chunk("x", "1"), {}));
  output.add_text("c");
  const auto events = output.take();
  REQUIRE(events.size() == 5);
  CHECK(text_at(events, 0).reply == text_at(events, 2).reply);
  CHECK(text_at(events, 2).last);
  CHECK(text_at(events, 4).reply.value == "t-r1.2");
  output.stored();
  output.add(chunk("x", "2"), {});
  // The piece is being stored already, so the reply's end is an event of its own.
  CHECK(text_at(output.take(), 0).last);
}

TEST_CASE("PendingOutput: after put_back, unstored events come before newer ones") {
  PendingOutput output("t", 1, 1000);
  output.add(chunk("1", "x"), {});
  CHECK(output.take().size() == 1);
  output.add(chunk("2", "x"), {});
  output.put_back();
  const auto again = output.take();
  REQUIRE(again.size() == 2);
  CHECK(std::get<task::ArtifactChunk>(again[0]).artifact.id.value == "1");
  output.stored();
  output.put_back();
  CHECK(output.empty());
}

TEST_CASE("PendingOutput: its bytes count waiting events, and stay exact after take, put_back and drop") {
  PendingOutput output("t", 1, 10'000);
  output.add_text(std::string(500, 'x'));
  output.add_text(std::string(500, 'y'));
  const std::size_t whole = output.bytes();
  CHECK(whole >= 1000);
  output.take();
  CHECK(output.bytes() == 0);
  output.put_back();
  CHECK(output.bytes() == whole);
  output.drop_all();
  CHECK(output.bytes() == 0);
}

TEST_CASE("PendingOutput: an artifact over the limit is refused, and a restarted one counts from zero") {
  PendingOutput output("t", 1, 10);
  CHECK_FALSE(output.add(chunk("a", "12345678"), {}));
  CHECK_FALSE(output.add(chunk("a", "12345678"), {}));
  const auto wrong = output.add(chunk("a", "123", true), {});
  REQUIRE(wrong);
  CHECK(*wrong == "the agent created an artifact larger than 10 bytes");
}

TEST_CASE("PendingOutput: more tool calls than a turn may make are refused") {
  PendingOutput output("t", 1, 10);
  for (int call = 0; call < 10'000; ++call)
    REQUIRE_FALSE(output.add(task::ToolCall{"c" + std::to_string(call), "tool", {}}, {}));
  const auto wrong = output.add(task::ToolCall{"more", "tool", {}}, {});
  REQUIRE(wrong);
  CHECK(*wrong == "the agent made more than 10000 tool calls in a turn");
}

TEST_CASE("PendingOutput: an artifact or a note without an id gets one") {
  PendingOutput output("t", 3, 100);
  output.add(chunk("", "x"), {});
  task::StatusChanged note;
  note.status.state = task::State::completed;
  note.status.message.emplace();
  output.add(note, base::from_ms(5));
  const auto events = output.take();
  CHECK(std::get<task::ArtifactChunk>(events[0]).artifact.id.value == "t-a3.1");
  const auto& status = std::get<task::StatusChanged>(events[1]).status;
  CHECK(status.state == task::State::working);
  CHECK(status.at == base::from_ms(5));
  CHECK_FALSE(status.message->id.empty());
}

TEST_CASE("PendingOutput: waiting pieces of one span of reasoning become one event") {
  PendingOutput output("t", 2, 1000);
  output.add_reasoning("a");
  output.add_reasoning("b");
  const auto first = output.take();
  REQUIRE(first.size() == 1);
  CHECK(thought_at(first, 0).text == "ab");
  CHECK(thought_at(first, 0).first);
  CHECK_FALSE(thought_at(first, 0).last);
  CHECK(thought_at(first, 0).span.value == "t-t2.1");
  output.stored();
  output.add_reasoning("c");
  output.close_all();
  const auto second = output.take();
  REQUIRE(second.size() == 1);
  CHECK(thought_at(second, 0).text == "c");
  CHECK(thought_at(second, 0).span.value == "t-t2.1");
  CHECK_FALSE(thought_at(second, 0).first);
  CHECK(thought_at(second, 0).last);
}

TEST_CASE("PendingOutput: text ends a span of reasoning, reasoning ends a reply, and each has its own ids") {
  PendingOutput output("t", 1, 1000);
  output.add_reasoning("hm");
  output.add_text("so");
  output.add_reasoning("or");
  output.add_text("not");
  output.close_all();
  const auto events = output.take();
  REQUIRE(events.size() == 4);
  CHECK(thought_at(events, 0).span.value == "t-t1.1");
  CHECK(text_at(events, 1).reply.value == "t-r1.1");
  CHECK(thought_at(events, 2).span.value == "t-t1.2");
  CHECK(text_at(events, 3).reply.value == "t-r1.2");
  for (const std::size_t thought : {0, 2}) {
    CHECK(thought_at(events, thought).first);
    CHECK(thought_at(events, thought).last);
    CHECK(text_at(events, thought + 1).first);
    CHECK(text_at(events, thought + 1).last);
  }
}

TEST_CASE("PendingOutput: events that end a reply also end a span of reasoning, even one being stored") {
  PendingOutput output("t", 1, 1000);
  output.add_reasoning("hm");
  output.take();
  output.stored();
  output.add(task::Usage{{"{}"}}, {});
  output.add(subagent("s", Phase::started), {});
  output.add(task::Custom{"c", {"1"}}, {});
  output.add(task::ToolCall{"call", "look", {}, false}, {});
  const auto events = output.take();
  REQUIRE(events.size() == 5);
  CHECK(thought_at(events, 3).text.empty());
  CHECK(thought_at(events, 3).span.value == "t-t1.1");
  CHECK_FALSE(thought_at(events, 3).first);
  CHECK(thought_at(events, 3).last);
  CHECK(std::holds_alternative<task::ToolCall>(events[4]));
}

TEST_CASE("PendingOutput: a subagent begins and ends once, and one left open ends as failed") {
  PendingOutput output("t", 1, 1000);
  output.add(subagent("a", Phase::finished), {});
  output.add(subagent("a", Phase::started), {});
  output.add(subagent("b", Phase::started), {});
  output.add(subagent("a", Phase::started), {});
  output.add(subagent("a", Phase::finished), {});
  output.add(subagent("a", Phase::failed), {});
  output.close_all();
  output.close_all();
  const auto events = output.take();
  REQUIRE(events.size() == 4);
  CHECK(subagent_at(events, 0).id == "a");
  CHECK(subagent_at(events, 1).id == "b");
  CHECK(subagent_at(events, 2).phase == Phase::finished);
  CHECK(subagent_at(events, 3).id == "b");
  CHECK(subagent_at(events, 3).name == "helper");
  CHECK(subagent_at(events, 3).phase == Phase::failed);
  CHECK(subagent_at(events, 3).error == "left unfinished");
}

TEST_CASE("PendingOutput: after drop_all the open subagents are those that the log has open") {
  PendingOutput output("t", 1, 1000);
  output.add(subagent("stored", Phase::started), {});
  output.add(subagent("ended", Phase::started), {});
  output.take();
  output.stored();
  output.add(subagent("ended", Phase::finished), {});
  output.add(subagent("on its way", Phase::started), {});
  output.take();
  output.add(subagent("on its way", Phase::failed), {});
  output.add(subagent("waiting", Phase::started), {});
  output.drop_all();
  CHECK(output.empty());
  CHECK(output.bytes() == 0);
  output.close_all();
  const auto events = output.take();
  REQUIRE(events.size() == 2);
  CHECK(subagent_at(events, 0).id == "stored");
  CHECK(subagent_at(events, 1).id == "ended");
}

}  // namespace pending_output_test
