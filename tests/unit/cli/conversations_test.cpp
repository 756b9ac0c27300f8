#include "cli/conversations.h"

#include <doctest/doctest.h>

namespace conversations_test {

using namespace baton;
using cli::ExpectedTurn;
using cli::Reply;

namespace {

protocol::a2a::ArtifactUpdate artifact(const std::string& id, const std::string& text, bool append = false) {
  protocol::a2a::ArtifactUpdate update;
  update.artifact.id.value = id;
  update.artifact.parts = {task::Part::of_text(text)};
  update.append = append;
  return update;
}

protocol::a2a::StatusUpdate status(task::State state, const std::string& text = {}) {
  protocol::a2a::StatusUpdate update;
  update.status.state = state;
  if (!text.empty()) update.status.message.emplace().parts = {task::Part::of_text(text)};
  return update;
}

std::string problem(const std::string& text) {
  const auto read = cli::read_conversations(text);
  return read ? "" : read.error().for_caller;
}

std::string differing(const ExpectedTurn& expected, const Reply& reply) {
  std::string all;
  for (const std::string& line : cli::differences(expected, reply)) all += line + "\n";
  return all;
}

}  // namespace

TEST_CASE("read_conversations: all members of a turn are read") {
  const auto read = cli::read_conversations(R"({"conversations": [
    {"name": "a walk", "turns": [
      {"say": "where?", "state": "input-required", "contains": "street"},  // a question
      {"parts": [{"text": "there"}, {"data": {"a": 1}}], "text": "Gone.", "lacks": ["x", "y"],
       "data": {"b": [1.0]}, "files": ["map.png"]}]}]})");
  REQUIRE(read);
  REQUIRE(read->size() == 1);
  const cli::Conversation& walk = read->front();
  CHECK(walk.name == "a walk");
  REQUIRE(walk.turns.size() == 2);
  CHECK(walk.turns[0].parts == std::vector{task::Part::of_text("where?")});
  CHECK(walk.turns[0].state == task::State::input_required);
  CHECK(walk.turns[0].contains == std::vector<std::string>{"street"});
  CHECK(walk.turns[1].parts.size() == 2);
  CHECK_FALSE(walk.turns[1].state);
  CHECK(walk.turns[1].text == "Gone.");
  CHECK(walk.turns[1].lacks.size() == 2);
  CHECK(walk.turns[1].data == R"({"b": [1.0]})");
  CHECK(walk.turns[1].files == std::vector<std::string>{"map.png"});
}

TEST_CASE("read_conversations: problems are reported with their place") {
  CHECK(problem("{\n  no}").starts_with("2:3: "));
  CHECK(problem("{}") == "1:1: /conversations: must be a list");
  CHECK(problem(R"({"conversations": [{"name": "a", "turns": []}]})") ==
        "1:43: /conversations/0/turns: must be a list of turns");
  CHECK(problem(R"({"conversations": [{"name": "a", "turns": [{"say": "x", "contain": "y"}]}]})") ==
        "1:68: /conversations/0/turns/0/contain: is unknown; did you mean \"contains\"?");
  CHECK(problem(R"({"conversations": [{"name": "a", "turns": [{"text": "x"}]}]})")
            .ends_with("must have one of \"say\" and \"parts\""));
  CHECK(problem(R"({"conversations": [{"name": "a", "turns": [{"say": "x", "state": "done"}]}]})")
            .ends_with("/state: is not a state, such as \"input-required\""));
}

TEST_CASE("ReplyReader: pieces of an artifact are joined, and earlier text is left out") {
  cli::ReplyReader reader;
  reader.read(artifact("r1", "Hel"));
  reader.read(artifact("r1", "lo", true));
  reader.read(status(task::State::input_required, " Which?"));
  Reply reply = reader.end();
  CHECK(reply.text == "Hello Which?");
  CHECK(reply.state == task::State::input_required);
  task::Task whole;
  whole.status.state = task::State::working;
  whole.artifacts.emplace_back().id.value = "r1";
  whole.artifacts.back().parts = {task::Part::of_text("Hello")};
  reader.read(whole);
  reader.read(artifact("r2", "That."));
  reader.read(status(task::State::completed));
  reply = reader.end();
  CHECK(reply.text == "That.");
  CHECK(reply.state == task::State::completed);
}

TEST_CASE("ReplyReader: a message counts if no artifact has text") {
  cli::ReplyReader reader;
  protocol::a2a::MessageReply said;
  said.message.parts = {task::Part::of_text("Hi.")};
  reader.read(said);
  CHECK(reader.end().text == "Hi.");
  reader.read(status(task::State::working, "Soon."));
  reader.read(said);
  reader.read(said);
  CHECK(reader.end().text == "Hi.Hi.");
  reader.read(status(task::State::failed, "No."));
  CHECK(reader.end().text == "No.");
}

TEST_CASE("differences: none if everything is as expected") {
  ExpectedTurn expected;
  expected.text = "Hello";
  expected.contains = {"ell"};
  expected.lacks = {"x"};
  expected.data = R"({"a": 1, "b": [2]})";
  expected.files = {"a.txt"};
  CHECK(
      differences(expected, {task::State::completed, "Hello", {R"({"b":[2.0],"a":1})"}, {"a.txt"}}).empty());
}

TEST_CASE("differences: each is reported with the expected and the actual value") {
  ExpectedTurn expected;
  CHECK(differing(expected, {task::State::failed, "No.", {}, {}}) ==
        "state: expected completed\n       but got  failed \"No.\"\n");
  expected.state = task::State::failed;
  expected.text = "Yes.";
  expected.data = "1";
  expected.files.emplace();
  CHECK(differing(expected, {task::State::failed, "No.", {"2"}, {"a", "b"}}) ==
        "text: expected \"Yes.\"\n      but got  \"No.\"\n"
        "data: expected 1\n      but got  2\n"
        "files: expected none\n       but got  a, b\n");
}

}  // namespace conversations_test
