// The contract of every TaskStore about reading artifacts, history and conversations, also as of an event.
#include "contract/store_bench.h"

namespace task_store_read_test {

using namespace baton;
using namespace baton::test;
using task::State;

STORE_TEST_CASE("TaskStore: pieces of a reply read as one text part") {
  const task::TaskHead head = bench.create("t1");
  const store::Committed first = bench.must(head, {delta("r1", "one "), delta("r1", "two ")});
  CHECK(std::get<task::TextDelta>(first.events[0]->body).first);
  CHECK_FALSE(std::get<task::TextDelta>(first.events[1]->body).first);
  bench.must(head, {task::TextDelta{{"r1"}, 0, "three", false, true}});
  const task::Task task = bench.read(head);
  REQUIRE(task.artifacts.size() == 1);
  CHECK(task.artifacts[0].id.value == "r1");
  CHECK(texts(task.artifacts[0]) == Texts{"one two three"});
}

STORE_TEST_CASE("TaskStore: artifacts get ordinals in the order in which they appear") {
  const task::TaskHead head = bench.create("t1");
  const store::Committed stored = bench.must(
      head, {chunk("a", "1", false), delta("r", "x"), chunk("b", "2", false), chunk("a", "3", true)});
  CHECK(std::get<task::ArtifactChunk>(stored.events[0]->body).artifact.ordinal == 0);
  CHECK(std::get<task::TextDelta>(stored.events[1]->body).ordinal == 1);
  CHECK(std::get<task::ArtifactChunk>(stored.events[2]->body).artifact.ordinal == 2);
  CHECK(std::get<task::ArtifactChunk>(stored.events[3]->body).artifact.ordinal == 0);
  CHECK(stored.head.artifact_count == 3);
  const std::vector<task::Event> log = bench.log(head);
  CHECK(std::get<task::ArtifactChunk>(log[4].body).artifact.ordinal == 2);
  const task::Task task = bench.read(head);
  REQUIRE(task.artifacts.size() == 3);
  CHECK(task.artifacts[2].id.value == "b");
  CHECK(task.artifacts[2].ordinal == 2);
}

STORE_TEST_CASE("TaskStore: chunks are appended, and a chunk without append replaces the artifact") {
  const task::TaskHead head = bench.create("t1");
  task::ArtifactChunk begin = chunk("a", "1", false);
  begin.artifact.name = "report";
  task::ArtifactChunk more = chunk("a", "2", true);
  more.artifact.name = "other";
  more.artifact.description = "filled in later";
  more.artifact.metadata = {R"({"n": 2})"};
  bench.must(head, {begin, more});
  task::Artifact artifact = bench.read(head).artifacts.at(0);
  CHECK(texts(artifact) == Texts{"1", "2"});
  CHECK(artifact.name == "report");
  CHECK(artifact.description == "filled in later");
  CHECK(artifact.metadata.text == R"({"n": 2})");

  more.artifact.metadata = {R"({"n": 3, "m": 1})"};
  more.artifact.extensions = {"urn:a"};
  bench.must(head, {more, more});
  artifact = bench.read(head).artifacts.at(0);
  CHECK(artifact.metadata.text == R"({"n":3,"m":1})");
  CHECK(artifact.extensions == Texts{"urn:a"});

  bench.must(head, {chunk("a", "3", false), chunk("a", "4", true)});
  artifact = bench.read(head).artifacts.at(0);
  CHECK(texts(artifact) == Texts{"3", "4"});
  CHECK(artifact.name.empty());
  CHECK(texts(bench.read(head, 0, 4).artifacts.at(0)) == Texts{"1", "2"});
  CHECK(artifact.metadata.empty());
}

STORE_TEST_CASE(
    "TaskStore: an appended chunk of an unknown artifact creates it, and is stored without append") {
  const task::TaskHead head = bench.create("t1");
  const store::Committed stored = bench.must(head, {chunk("a", "1", true)});
  CHECK_FALSE(std::get<task::ArtifactChunk>(stored.events[0]->body).append);
  CHECK(texts(bench.read(head).artifacts.at(0)) == Texts{"1"});
  task::Change nameless = StoreBench::change(head, {chunk("", "1", true)});
  CHECK(bench.commit(std::move(nameless)).error().code == base::ErrorCode::invalid_argument);
}

STORE_TEST_CASE("TaskStore: withdrawn artifacts are gone, and start empty when they are sent again") {
  const task::TaskHead head = bench.create("t1");
  bench.must(head, {chunk("a", "1", false), chunk("b", "2", false), delta("r", "broken")});  // 3, 4, 5
  bench.must(head, {task::Withdrawn{{{"a"}, {"r"}, {"unknown"}, {"a"}}}});                   // 6
  CHECK(bench.read(head).artifacts.size() == 1);
  bench.reopen();
  const store::Committed again = bench.must(head, {delta("r", "whole"), chunk("a", "3", true)});  // 7, 8
  CHECK(std::get<task::TextDelta>(again.events[0]->body).first);
  const task::Task task = bench.read(head);
  REQUIRE(task.artifacts.size() == 3);
  CHECK(texts(task.artifacts[0]) == Texts{"3"});
  CHECK(texts(task.artifacts[2]) == Texts{"whole"});
  CHECK(again.head.artifact_count == 3);

  CHECK(bench.read(head, 0, 3).artifacts.size() == 1);
  CHECK(texts(bench.read(head, 0, 5).artifacts.at(2)) == Texts{"broken"});
  CHECK(bench.read(head, 0, 6).artifacts.size() == 1);
  CHECK(bench.read(head, 0, 7).artifacts.size() == 2);
}

STORE_TEST_CASE("TaskStore: a task reads as it was after each of its events") {
  const task::TaskHead head = bench.create("t1");
  bench.must(head,
             {status(State::working), delta("r", "a"), delta("r", "b"), chunk("x", "1", false),
              status(State::input_required, message(task::Role::agent, "ask", "which?")), user("m2", "that"),
              status(State::working), chunk("x", "2", true), status(State::completed)});
  const std::vector<State> states{State::submitted,      State::submitted,      State::working,
                                  State::working,        State::working,        State::working,
                                  State::input_required, State::input_required, State::working,
                                  State::working,        State::completed};
  for (std::size_t i = 0; i < states.size(); ++i) {
    const auto number = static_cast<std::int64_t>(i + 1);
    const task::Task then = bench.read(head, std::nullopt, number);
    CHECK(then.last_event.value == number);
    CHECK(then.status.state == states[i]);
    CHECK(then.history.size() == (number < 2 ? 0u : number < 7 ? 1u : number < 8 ? 2u : 3u));
    CHECK(then.artifacts.size() == (number < 4 ? 0u : number < 6 ? 1u : 2u));
  }
  CHECK(texts(bench.read(head, 0, 4).artifacts.at(0)) == Texts{"a"});
  CHECK(texts(bench.read(head, 0, 9).artifacts.at(1)) == Texts{"1"});
  CHECK(texts(bench.read(head, 0, 99).artifacts.at(1)) == Texts{"1", "2"});
  CHECK(bench.read(head, 0, 99).last_event.value == 11);
  CHECK(bench.read(head, 0, 0).status.state == State::submitted);
  CHECK(bench.read(head, 0, 7).status.message->id.value == "ask");
}

STORE_TEST_CASE(
    "TaskStore: history has the last messages, oldest first, with questions and answers but no progress") {
  const task::TaskHead head = bench.create("t1");
  const auto agent = [](const std::string& text) { return message(task::Role::agent, "x", text); };
  bench.must(head, {status(State::working, agent("note")), status(State::input_required, agent("which?")),
                    user("m2", "that"), status(State::submitted, agent("queued")),
                    task::MessageAdded{agent("said")}, status(State::completed, agent("done"))});
  CHECK(texts(bench.read(head).history) == Texts{"hello", "which?", "that", "said", "done"});
  CHECK(texts(bench.read(head, 2).history) == Texts{"said", "done"});
  CHECK(bench.head(head.key).message_count == 5);
  CHECK(texts(bench.read(head, 99).history).size() == 5);
  CHECK(bench.read(head, 0).history.empty());
  CHECK(bench.read(head, -1).history.empty());
  CHECK(bench.read(head).status.message->parts.at(0).content == "done");
  const auto shallow = bench.tasks->read(head.key, {0, false});
  REQUIRE(shallow.has_value());
  CHECK(shallow->artifacts.empty());
}

namespace {

Texts said(StoreBench& bench, const task::TaskHead& before, std::int64_t number, int limit = 100) {
  const auto found = bench.tasks->context(before.context_key, before.key, {number}, limit);
  REQUIRE(found.has_value());
  return texts(found->said);
}

}  // namespace

STORE_TEST_CASE(
    "TaskStore: a conversation has the messages and replies of all tasks of the context in time order") {
  const task::TaskHead one = bench.must(StoreBench::creation("t1", {user("m1", "q1")})).head;
  bench.clock.advance(base::Duration(5));
  bench.must(one, {delta("r1", "a"), delta("r1", "1")});
  bench.clock.advance(base::Duration(5));
  const task::TaskHead two = bench.must(StoreBench::creation("t2", {user("m2", "q2")})).head;
  const task::TaskHead elsewhere = bench.must(StoreBench::creation("t3", {user("m3", "q3")}, "c2")).head;
  bench.clock.advance(base::Duration(5));
  bench.must(one, {user("m4", "q4")});
  bench.must(two, {delta("r2", "a2"), status(State::completed, message(task::Role::agent, "d", "done"))});

  CHECK(said(bench, two, 1) == Texts{"q1", "a1", "q4", "a2", "done"});
  CHECK(said(bench, two, 9) == Texts{"q1", "a1", "q2", "q4", "a2", "done"});
  CHECK(said(bench, two, 9, 2) == Texts{"a2", "done"});
  CHECK(said(bench, one, 3) == Texts{"q1", "a1", "q2", "a2", "done"});
  CHECK(said(bench, elsewhere, 1).empty());
  const auto whole = bench.tasks->context(one.context_key, two.key, {1}, 100).value().said;
  CHECK(whole[1].id.value == "r1");
  CHECK(whole[1].role == task::Role::agent);
}

STORE_TEST_CASE("TaskStore: a conversation shows no reply that was withdrawn or replaced") {
  const task::TaskHead head = bench.must(StoreBench::creation("t1", {user("m1", "q")})).head;
  bench.must(head, {delta("r1", "broken"), delta("r2", "kept"), task::Withdrawn{{{"r1"}}}});  // 2, 3, 4
  CHECK(said(bench, head, 9) == Texts{"q", "kept"});
  bench.must(head, {delta("r1", "whole"), task::TextDelta{{"r2"}, 0, "new", true, false}});  // 5, 6
  CHECK(said(bench, head, 9) == Texts{"q", "whole", "new"});
  CHECK(said(bench, head, 9, 1) == Texts{"new"});
}

STORE_TEST_CASE("TaskStore: a read returns fewer events if they are large, but at least one") {
  const task::TaskHead head = bench.create("t1");
  for (int i = 0; i < 3; ++i) bench.must(head, {chunk("a", std::string(700'000, 'x'), true)});
  const auto numbers = [&](std::int64_t after, int limit) {
    std::vector<std::int64_t> found;
    const auto events = bench.tasks->events(head.key, {after}, limit);
    for (const task::Event& event : *events) found.push_back(event.number.value);
    return found;
  };
  CHECK(numbers(0, 100) == std::vector<std::int64_t>{1, 2, 3, 4});
  CHECK(numbers(2, 100) == std::vector<std::int64_t>{3, 4});
  CHECK(numbers(4, 100) == std::vector<std::int64_t>{5});
  CHECK(bench.tasks->read(head.key, {0, true, 2'100'000}).error().code == base::ErrorCode::too_large);
  CHECK(bench.tasks->read(head.key, {0, true, 2'200'000}).has_value());
}

}  // namespace task_store_read_test
