#include "agents/remote/relay.h"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <vector>

#include "support/agent_bench.h"

namespace relay_test {

using namespace baton;
using agents::Relay;
using protocol::a2a::ArtifactUpdate;
using protocol::a2a::StatusUpdate;
using protocol::a2a::Update;
using test::RecordingSink;

namespace {

using Texts = std::vector<std::string>;

// Relays the updates in a turn; keeps the turn's sink and its outcome.
struct Told {
  explicit Told(const std::vector<Update>& updates) {
    agents::SinkGate gate(sink);
    agents::TurnOutput output(gate, {});
    Relay relay(output, {});
    for (Update update : updates) relay.tell(update);
    relay.end_messages();
    outcome = relay.outcome();
    output.finish(agents::Done{});
  }

  std::vector<task::ArtifactChunk> chunks() const {
    std::vector<task::ArtifactChunk> found;
    for (const task::EventBody& body : sink->events()) {
      if (const auto* chunk = std::get_if<task::ArtifactChunk>(&body)) found.push_back(*chunk);
    }
    return found;
  }

  std::vector<std::string> replies() const {
    std::vector<std::string> texts;
    for (const agents::SaidReply& reply : sink->replies()) texts.push_back(reply.text);
    return texts;
  }

  std::shared_ptr<RecordingSink> sink = std::make_shared<RecordingSink>();
  std::optional<agents::Outcome> outcome;
};

// The sink of a turn that is dropped with its first event.
struct DroppingSink final : agents::TurnSink {
  void emit(task::EventBody body) override {
    inner.emit(std::move(body));
    gate->close();
  }
  void text(std::string delta) override { inner.text(std::move(delta)); }
  void reply(agents::ReplyPiece piece) override { inner.reply(std::move(piece)); }
  void reasoning(std::string delta) override { inner.reasoning(std::move(delta)); }
  bool ready(std::function<void()>) override { return true; }
  void delegate(agents::DelegateRequest) override {}
  void finish(agents::Outcome outcome) override { inner.finish(std::move(outcome)); }

  RecordingSink inner;
  agents::SinkGate* gate = nullptr;
};

task::Artifact artifact(const std::string& id, const std::string& name, const std::string& text) {
  task::Artifact made;
  made.id.value = id;
  made.name = name;
  made.parts.push_back(task::Part::of_text(text));
  return made;
}

ArtifactUpdate piece(task::Artifact artifact, bool append = false, bool last = false) {
  return {{"r"}, {"c"}, std::move(artifact), append, last};
}

StatusUpdate status(task::State state, const std::string& text = {}) {
  StatusUpdate update;
  update.task.value = "r";
  update.status.state = state;
  if (text.empty()) return update;
  update.status.message.emplace();
  update.status.message->id.value = "theirs";
  update.status.message->parts.push_back(task::Part::of_text(text));
  return update;
}

task::Task snapshot(task::State state, std::vector<task::Artifact> artifacts) {
  task::Task task;
  task.id.value = "r";
  task.status.state = state;
  task.artifacts = std::move(artifacts);
  return task;
}

}  // namespace

TEST_CASE("Relay: text without a name becomes the reply, and an artifact with a name an artifact") {
  const Told told({piece(artifact("1", "", "hel")), piece(artifact("1", "", "lo"), true, true),
                   piece(artifact("2", "report", "rows"), false, true), status(task::State::completed)});
  CHECK(told.replies() == Texts{"hello"});
  REQUIRE(told.chunks().size() == 1);
  CHECK(told.chunks()[0].artifact.name == "report");
  CHECK(told.chunks()[0].last_chunk);
  REQUIRE(told.outcome.has_value());
  CHECK(std::holds_alternative<agents::Done>(*told.outcome));
}

TEST_CASE(
    "Relay: the thoughts of an agent of Google's ADK are reasoning, told once, and its text is the reply") {
  const auto thinking = [](const std::string& thought, const std::string& text) {
    task::Artifact made = artifact("1", "", thought);
    made.parts.front().metadata.text = R"({"adk_thought":true})";
    if (!text.empty()) made.parts.push_back(task::Part::of_text(text));
    return made;
  };
  // Pieces are appended to an artifact that has not begun; at the end all of it comes once more.
  const Told told({piece(thinking("I ", ""), true), piece(thinking("look.", ""), true),
                   piece(artifact("1", "", "It ")), piece(artifact("1", "", "is."), true),
                   piece(thinking("I look.", "It is."), false, true),
                   snapshot(task::State::completed, {thinking("I look.", "It is.")})});
  CHECK(told.sink->all_reasoning() == "I look.");
  CHECK(told.replies() == Texts{"It is."});
  CHECK(told.chunks().empty());
}

TEST_CASE("Relay: the reply of an agent of Mastra is a reply, although it has a name") {
  const Told told({piece(artifact("t:response:text", "response.txt", "hel")),
                   piece(artifact("t:response:text", "response.txt", "lo"), true, true),
                   piece(artifact("t:other", "response.txt", "rows"), false, true),
                   status(task::State::completed)});
  CHECK(told.replies() == Texts{"hello"});
  REQUIRE(told.chunks().size() == 1);
  CHECK(told.chunks()[0].artifact.id.value == "t:other");
}

TEST_CASE("Relay: a snapshot after a reconnect adds only what is new") {
  task::Artifact report = artifact("2", "report", "first");
  task::Artifact longer = report;
  longer.parts.push_back(task::Part::of_text("second"));
  const Told told({piece(artifact("1", "", "hel")), piece(report),
                   snapshot(task::State::working, {artifact("1", "", "hello"), report}),
                   snapshot(task::State::working, {artifact("1", "", "hello"), longer})});
  CHECK(told.replies() == Texts{"hello"});
  REQUIRE(told.chunks().size() == 2);
  CHECK(told.chunks()[1].append);
  CHECK(told.chunks()[1].artifact.parts == std::vector{task::Part::of_text("second")});
  CHECK_FALSE(told.outcome.has_value());
}

TEST_CASE("Relay: new metadata of an artifact is passed on, although its content is as before") {
  task::Artifact begun = artifact("2", "report", "all");
  begun.metadata.text = R"({"ready":false})";
  task::Artifact ready = begun;
  ready.metadata.text = R"({"ready":true})";
  const Told told({piece(begun), snapshot(task::State::working, {begun}),
                   snapshot(task::State::working, {ready}), snapshot(task::State::completed, {ready})});
  REQUIRE(told.chunks().size() == 2);
  CHECK(told.chunks()[1].append);
  CHECK(told.chunks()[1].artifact.parts.empty());
  CHECK(told.chunks()[1].artifact.metadata.text == R"({"ready":true})");
}

TEST_CASE("Relay: an artifact with other content replaces the one before") {
  const Told told({piece(artifact("2", "report", "old")),
                   snapshot(task::State::working, {artifact("2", "report", "new")})});
  REQUIRE(told.chunks().size() == 2);
  CHECK_FALSE(told.chunks()[1].append);
}

TEST_CASE("Relay: replies that are streamed in turns stay apart, and each ends by itself") {
  const Told told({piece(artifact("1", "", "a")), piece(artifact("2", "", "b")),
                   piece(artifact("1", "", "c"), true, true), piece(artifact("2", "", "d"), true)});
  CHECK(told.replies() == Texts{"ac", "bd"});
  CHECK(told.chunks().empty());
  CHECK_FALSE(told.sink->replies()[0].is_open);
  CHECK(told.sink->replies()[1].is_open);
}

TEST_CASE("Relay: a reply that is sent again as a whole is continued, or replaced if it differs") {
  const Told longer({piece(artifact("1", "", "the")), piece(artifact("1", "", "the answer"))});
  CHECK(longer.replies() == Texts{"the answer"});
  const Told other({piece(artifact("1", "", "a draft")), piece(artifact("1", "", "the answer"), false, true),
                    piece(artifact("1", "", "!"), true)});
  CHECK(other.replies() == Texts{"the answer!"});
  const Told whole({piece(artifact("1", "", "a draft")),
                    snapshot(task::State::completed, {artifact("1", "", "the answer")})});
  CHECK(whole.replies() == Texts{"the answer"});
}

TEST_CASE("Relay: a reply that gets a file stays a reply, and the file is an artifact") {
  task::Artifact file = artifact("1", "", "see");
  file.parts.push_back(task::Part::of_data({"{}"}));
  task::Artifact only = file;
  only.parts.erase(only.parts.begin());
  const Told told(
      {piece(artifact("1", "", "see")), piece(only, true), snapshot(task::State::completed, {file})});
  CHECK(told.replies() == Texts{"see"});
  REQUIRE(told.chunks().size() == 1);
  CHECK(told.chunks()[0].artifact.parts.size() == 1);
}

TEST_CASE("Relay: while the task works a status message is a note, reported once") {
  const Told told({status(task::State::working, "begun"), status(task::State::working, "begun"),
                   status(task::State::input_required, "which?"), status(task::State::completed)});
  CHECK(told.sink->events().size() == 1);
  REQUIRE(told.outcome.has_value());
  const auto* asked = std::get_if<agents::Asked>(&*told.outcome);
  REQUIRE(asked != nullptr);
  CHECK(task::text_of(asked->message) == "which?");
  CHECK(asked->message.id.empty());
}

TEST_CASE("Relay: each end of the remote task ends the turn in the same way") {
  const auto end_of = [](const Update& update) { return *Told({update}).outcome; };
  CHECK(std::get<agents::Failed>(end_of(status(task::State::failed, "no disk"))).error == "no disk");
  CHECK(std::get<agents::Failed>(end_of(status(task::State::failed))).error == "the remote agent failed");
  const std::string long_reason(1'000'000, 'x');
  CHECK(std::get<agents::Failed>(end_of(status(task::State::failed, long_reason))).error.size() == 64 << 10);
  CHECK(std::get<agents::Rejected>(end_of(status(task::State::rejected, "not mine"))).reason == "not mine");
  CHECK(std::holds_alternative<agents::Canceled>(end_of(status(task::State::canceled))));
  CHECK(std::get<agents::Asked>(end_of(status(task::State::auth_required, "log in"))).for_auth);
  const protocol::a2a::MessageReply reply{{}, {}, *status(task::State::working, "hi").status.message};
  CHECK(task::text_of(*std::get<agents::Done>(end_of(reply)).message) == "hi");
}

TEST_CASE("Relay: several messages are one reply in pieces, and a single one is the outcome") {
  const auto message = [](const std::string& id, const std::string& text, const std::string& metadata = "") {
    protocol::a2a::MessageReply reply;
    reply.message.id.value = id;
    if (!text.empty()) reply.message.parts.push_back(task::Part::of_text(text));
    reply.message.metadata.text = metadata;
    return reply;
  };
  const std::string thought = R"({"agno_content_category":"reasoning"})";
  const StatusUpdate works = status(task::State::working), done = status(task::State::completed);
  struct Row {
    std::vector<Update> updates;
    Texts replies;
    std::string outcome, reasoning;
  };
  const std::vector<Row> table{
      {{message("m", "hi")}, {}, "hi", ""},
      {{message("m", ""), message("m", "hel"), message("m", "lo"), message("m", "")}, {"hello"}, "", ""},
      {{message("m", "")}, {}, "", ""},
      {{message("m", "one"), message("n", "two")}, {"one", "two"}, "", ""},
      {{works, message("m", "hi"), done}, {}, "hi", ""},
      {{works, message("m", "hi"), status(task::State::completed, "end")}, {"hi"}, "end", ""},
      {{works, message("t", "hm", thought), message("m", "hel"), works, message("m", "lo"), done},
       {"hello"},
       "",
       "hm"},
  };
  for (const Row& row : table) {
    CAPTURE(&row - table.data());
    const Told told(row.updates);
    CHECK(told.replies() == row.replies);
    CHECK(told.chunks().empty());
    CHECK(told.sink->all_reasoning() == row.reasoning);
    REQUIRE(told.outcome.has_value());
    const auto& end = std::get<agents::Done>(*told.outcome);
    CHECK((end.message ? task::text_of(*end.message) : "") == row.outcome);
  }
}

TEST_CASE("Relay: words that a task has in its history only are its answer or its question") {
  const auto said = [](task::Role role, const std::string& text) {
    task::Message message;
    message.role = role;
    message.parts.push_back(task::Part::of_text(text));
    return message;
  };
  const auto outcome_of = [&](task::State state, std::vector<task::Message> history) {
    task::Task task = snapshot(state, {});
    task.history = std::move(history);
    return *Told({task}).outcome;
  };
  const task::Message asked = said(task::Role::user, "do"), answer = said(task::Role::agent, "done");
  const auto done = outcome_of(task::State::completed, {asked, answer});
  REQUIRE(std::get<agents::Done>(done).message.has_value());
  CHECK(task::text_of(*std::get<agents::Done>(done).message) == "done");
  const auto question = outcome_of(task::State::input_required, {asked, answer});
  CHECK(task::text_of(std::get<agents::Asked>(question).message) == "done");
  CHECK_FALSE(
      std::get<agents::Done>(outcome_of(task::State::completed, {answer, asked})).message.has_value());
  task::Task with_reply = snapshot(task::State::completed, {artifact("1", "", "hello")});
  with_reply.history = {asked, answer};
  const Told told({with_reply});
  CHECK_FALSE(std::get<agents::Done>(*told.outcome).message.has_value());
  CHECK(told.replies() == Texts{"hello"});
}

TEST_CASE("Relay: too many artifacts fail the turn, and later updates are ignored") {
  std::vector<task::Artifact> many;
  for (int i = 0; i < 10'001; ++i) many.push_back(artifact(std::to_string(i), "n", "x"));
  const Told told({snapshot(task::State::completed, many), piece(artifact("more", "n", "x"))});
  CHECK(told.chunks().size() == 10'000);
  REQUIRE(told.outcome.has_value());
  const auto* failed = std::get_if<agents::Failed>(&*told.outcome);
  REQUIRE(failed != nullptr);
  CHECK(failed->error == "the remote agent created more than 10000 artifacts");
}

TEST_CASE("Relay: a dropped turn gets nothing more of a large answer") {
  std::vector<task::Artifact> many;
  for (int i = 0; i < 1'000; ++i) many.push_back(artifact(std::to_string(i), "n", "x"));
  const auto sink = std::make_shared<DroppingSink>();
  agents::SinkGate gate(sink);
  sink->gate = &gate;
  agents::TurnOutput output(gate, {});
  Relay relay(output, {});
  Update update = snapshot(task::State::completed, many);
  relay.tell(update);
  CHECK_FALSE(relay.outcome().has_value());
  CHECK(sink->inner.events().size() == 1);
}

}  // namespace relay_test
