#include "engine/turns/other_tasks.h"

#include <doctest/doctest.h>

#include "support/engine_bench.h"

namespace other_tasks_test {

using namespace baton;
using test::EngineBench;

namespace {

// A completed task with this reply.
engine::Accepted complete(EngineBench& bench, const std::string& id, const std::string& reply,
                          const task::ContextId& context = {}) {
  task::Submission submission = EngineBench::message("about " + id, id);
  submission.context = context;
  const auto accepted = bench.submit(submission);
  REQUIRE(accepted);
  const auto turn = bench.scripted().next();
  REQUIRE(turn);
  turn->sink->text(reply);
  turn->sink->finish(agents::Done{});
  REQUIRE(bench.wait(accepted->key));
  return *accepted;
}

std::vector<task::TaskId> ids(const std::vector<std::string>& values) {
  std::vector<task::TaskId> result;
  for (const std::string& value : values) result.push_back({value});
  return result;
}

std::vector<std::string> ids_of(const std::vector<task::Task>& tasks) {
  std::vector<std::string> result;
  for (const task::Task& task : tasks) result.push_back(task.id.value);
  return result;
}

std::vector<task::Task> found(EngineBench& bench, const std::vector<std::string>& named,
                              const engine::ReferenceBounds& bounds) {
  task::Message message;
  message.reference_tasks = ids(named);
  const auto head = bench.engine().reader().head(EngineBench::ref("t0"));
  REQUIRE(head);
  auto tasks = engine::referenced_tasks(bench.engine().reader(), *head, message, bounds);
  REQUIRE(tasks);
  return std::move(*tasks);
}

constexpr engine::ReferenceBounds kWide{10, 50, 1 << 20};

}  // namespace

TEST_CASE("references: a turn in a known context gets the conversation and the tasks it refers to") {
  EngineBench bench;
  const auto elsewhere = complete(bench, "elsewhere", "a reply elsewhere");
  const auto before = complete(bench, "before", "a reply before");
  task::Submission submission = EngineBench::message("go on", "t0");
  submission.context = before.context;
  submission.message.reference_tasks = ids({"elsewhere", "unknown"});
  submission.extensions = {"https://example.org/e"};
  REQUIRE(bench.submit(submission));
  const auto turn = bench.scripted().next();
  REQUIRE(turn);
  REQUIRE(turn->turn.history.size() == 2);
  CHECK(task::text_of(turn->turn.history[0]) == "about before");
  CHECK(task::text_of(turn->turn.history[1]) == "a reply before");
  REQUIRE(ids_of(turn->turn.references) == std::vector<std::string>{"elsewhere"});
  const task::Task& reference = turn->turn.references[0];
  CHECK(reference.context == elsewhere.context);
  CHECK(reference.status.state == task::State::completed);
  REQUIRE(reference.history.size() == 1);
  CHECK(task::text_of(reference.history[0]) == "about elsewhere");
  REQUIRE(reference.artifacts.size() == 1);
  CHECK(reference.artifacts[0].parts[0].content == "a reply elsewhere");
  CHECK(turn->turn.extensions == std::vector<std::string>{"https://example.org/e"});
}

TEST_CASE(
    "references: another caller's tasks, another agent's, the task itself and repetitions are left out") {
  EngineBench bench;
  complete(bench, "t0", "own");
  complete(bench, "mine", "reply");
  task::Submission theirs = EngineBench::message("x", "theirs");
  theirs.caller = {"mallory"};
  REQUIRE(bench.submit(theirs));
  task::Submission helped = EngineBench::message("x", "helped");
  helped.agent = {"helper"};
  REQUIRE(bench.submit(helped));
  const auto tasks = found(bench, {"theirs", "helped", "t0", "mine", "mine"}, kWide);
  CHECK(ids_of(tasks) == std::vector<std::string>{"mine"});
}

TEST_CASE("references: the number of named tasks looked up is bounded") {
  EngineBench bench;
  for (const char* id : {"t0", "a", "b", "c"}) complete(bench, id, "reply");
  CHECK(ids_of(found(bench, {"c", "unknown", "b", "a"}, {3, 50, 1 << 20})) ==
        std::vector<std::string>{"c", "b"});
}

TEST_CASE("references: if the input is too large the history is left out first") {
  EngineBench bench;
  complete(bench, "t0", "own");
  complete(bench, "a", std::string(1000, 'x'));
  const auto whole = found(bench, {"a"}, kWide);
  const std::size_t artifact = task::weight_of(whole[0].artifacts[0]);
  const std::size_t message = task::weight_of(whole[0].history[0]);
  const auto exact = found(bench, {"a"}, {10, 50, artifact + message});
  CHECK(exact[0].artifacts.size() == 1);
  CHECK(exact[0].history.size() == 1);
  const auto less = found(bench, {"a"}, {10, 50, artifact + message - 1});
  CHECK(less[0].artifacts.size() == 1);
  CHECK(less[0].history.empty());
  const auto none = found(bench, {"a"}, {10, 50, message - 1});
  CHECK(none[0].artifacts.empty());
  CHECK(none[0].history.empty());
  CHECK(none[0].status.state == task::State::completed);
}

TEST_CASE("failure_of: a long reason is cut between two characters") {
  const auto failure = [](const std::string& text) {
    task::Status status;
    status.state = task::State::failed;
    status.message.emplace().parts.push_back(task::Part::of_text(text));
    return engine::failure_of(status);
  };
  CHECK(failure("no room") == "no room");
  CHECK(failure("") == "failed");
  std::string reason = "x";
  while (reason.size() < 20'000) reason += "é";
  CHECK(failure(reason) == reason.substr(0, 8'191) + "…");
}

}  // namespace other_tasks_test
