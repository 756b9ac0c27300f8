#include "task/fold.h"

#include <doctest/doctest.h>

namespace fold_test {

using namespace baton::task;

namespace {

std::vector<EventPtr> log_of(std::vector<EventBody> bodies) {
  std::vector<EventPtr> log;
  for (EventBody& body : bodies) {
    const EventNumber number{static_cast<std::int64_t>(log.size()) + 1};
    log.push_back(std::make_shared<const Event>(Event{number, {}, std::move(body)}));
  }
  return log;
}

Message message(const std::string& id, Role role = Role::agent) {
  Message made;
  made.id = {id};
  made.role = role;
  made.parts.push_back(Part::of_text(id));
  return made;
}

StatusChanged status(State state, std::optional<Message> said = {}) {
  return {{state, std::move(said), {}}, {}};
}

ArtifactChunk chunk(const std::string& id, int ordinal, const std::string& text, bool append) {
  ArtifactChunk made;
  made.artifact.id = {id};
  made.artifact.ordinal = ordinal;
  made.artifact.parts.push_back(Part::of_text(text));
  made.append = append;
  return made;
}

Task folded(std::vector<EventBody> bodies, const Depth& depth = {std::nullopt, true}) {
  return fold(log_of(std::move(bodies)), depth, {});
}

}  // namespace

TEST_CASE("Fold: the last status counts, and its event number is the task's position") {
  const Task task = folded({status(State::submitted), status(State::working)});
  CHECK(task.status.state == State::working);
  CHECK(task.last_event.value == 2);
  CHECK(folded({}).status.state == State::submitted);
}

TEST_CASE("Fold: the history has messages but no progress notes, and can be cut to its end") {
  const std::vector<EventBody> log{
      MessageAdded{message("m1", Role::user)}, status(State::working, message("note")),
      status(State::input_required, message("q")), MessageAdded{message("m2", Role::user)}};
  const Task all = folded(log);
  REQUIRE(all.history.size() == 3);
  CHECK(all.history[1].id.value == "q");
  const Task last = folded(log, {2, true});
  REQUIRE(last.history.size() == 2);
  CHECK(last.history[0].id.value == "q");
  CHECK(folded(log, {0, true}).history.empty());
}

TEST_CASE("Fold: the pieces of a reply are joined, and a restarted reply replaces them") {
  const Task task = folded({TextDelta{{"r"}, 0, "wrong", true, false}, TextDelta{{"r"}, 0, "He", true, false},
                            TextDelta{{"r"}, 0, "llo", false, true}});
  REQUIRE(task.artifacts.size() == 1);
  REQUIRE(task.artifacts[0].parts.size() == 1);
  CHECK(task.artifacts[0].id.value == "r");
  CHECK(task.artifacts[0].parts[0].content == "Hello");
}

TEST_CASE("Fold: metadata of an artifact's chunks are merged by name, and their extensions are a set") {
  const auto with = [](bool append, const char* metadata, std::vector<std::string> extensions = {}) {
    ArtifactChunk made = chunk("a", 0, "x", append);
    made.artifact.metadata.text = metadata;
    made.artifact.extensions = std::move(extensions);
    return made;
  };
  const auto merged = [&](std::vector<EventBody> log) { return folded(std::move(log)).artifacts.at(0); };
  const Artifact artifact = merged(
      {with(false, R"({"a": 1, "b": {"c": [1, "]}"]}})", {"urn:a"}), with(true, "", {"urn:b", "urn:a"}),
       with(true, R"({ "b" : "x\"}" , "d":null})", {"urn:b"}), with(true, "{}")});
  CHECK(artifact.metadata.text == R"({"a":1,"b":"x\"}","d":null})");
  CHECK(artifact.extensions == std::vector<std::string>{"urn:a", "urn:b"});
  // A single metadata object keeps its text, and a restarted artifact has no earlier metadata.
  CHECK(merged({with(false, ""), with(true, R"({ "a": 1 })")}).metadata.text == R"({ "a": 1 })");
  CHECK(merged({with(false, R"({"a":1})", {"urn:a"}), with(true, R"({"b":2})"),
                with(false, R"({"c":3})", {"urn:c"})}) == with(false, R"({"c":3})", {"urn:c"}).artifact);
  CHECK(merged({with(false, R"({"a":1})"), with(true, "[2]")}).metadata.text == R"({"a":1})");
  CHECK(merged({with(false, "{}"), with(true, "{}")}).metadata.text == "{}");
}

TEST_CASE("Fold: artifacts are ordered by ordinal, with chunks joined, and withdrawn ones are left out") {
  ArtifactChunk named = chunk("b", 1, "1", false);
  named.artifact.name = "name";
  const std::vector<EventBody> log{named, chunk("a", 0, "x", false), chunk("b", 1, "2", true),
                                   chunk("c", 2, "gone", false), Withdrawn{{{"c"}}}};
  const Task task = folded(log);
  REQUIRE(task.artifacts.size() == 2);
  CHECK(task.artifacts[0].id.value == "a");
  CHECK(task.artifacts[1].name == "name");
  CHECK(task.artifacts[1].parts.size() == 2);
  CHECK(folded(log, {0, false}).artifacts.empty());
}

}  // namespace fold_test
