// Answers to questions with a schema. They are checked in one place for all protocols.
#include <doctest/doctest.h>

#include "unit/engine/family.h"

namespace answers_test {

using namespace family;
using task::Part;

namespace {

const char kDeploy[] = R"({"type":"object","required":["environment","replicas"],"properties":{
  "environment":{"enum":["staging","production"]},"replicas":{"type":"integer","maximum":10}}})";
const char kApprove[] =
    R"({"type":"object","required":["approved"],"properties":{"approved":{"type":"boolean"}}})";

agents::Asked asking(const std::string& schema, const std::string& id = "q1") {
  agents::Asked asked = question("well?");
  asked.id = id;
  asked.message.parts.push_back(Part::of_data({R"({"schema":)" + schema + "}"}));
  return asked;
}

task::Submission saying(Part part, const std::string& id = {}) {
  auto submission = EngineBench::message("x", "t1");
  submission.message.parts = {std::move(part)};
  submission.message.id.value = id;
  return submission;
}

Part data(const std::string& json) {
  return Part::of_data({json});
}

// Creates the task "t1", which asks a question with the schema.
task::TaskKey ask(EngineBench& bench, const std::string& schema) {
  const auto accepted = bench.submit(EngineBench::message("go", "t1"));
  REQUIRE(accepted);
  bench.scripted().next()->sink->finish(asking(schema));
  REQUIRE(bench.wait(accepted->key));
  return accepted->key;
}

std::string refusal(EngineBench& bench, Part part) {
  const auto refused = bench.submit(saying(std::move(part)));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == base::ErrorCode::invalid_argument);
  return refused.error().for_caller;
}

EngineBench::Options elsewhere() {
  EngineBench::Options options;
  options.settings.executor = agents::AgentSettings::Kind::a2a;
  return options;
}

}  // namespace

TEST_CASE("Answers: the turn of an answer has the request that began the task, not the conversation") {
  EngineBench bench;
  const auto before = bench.submit(EngineBench::message("before", "t0"));
  REQUIRE(before);
  const auto first = bench.scripted().next();
  CHECK_FALSE(first->turn.request);
  first->sink->finish(agents::Done{});
  REQUIRE(bench.wait(before->key));
  auto submission = EngineBench::message("go", "t1");
  submission.context = before->context;
  const auto asks = bench.submit(submission);
  REQUIRE(asks);
  bench.scripted().next()->sink->finish(question("well?"));
  REQUIRE(bench.wait(asks->key));
  REQUIRE(bench.submit(saying(Part::of_text("yes"))));
  const auto turn = bench.scripted().next();
  REQUIRE(turn->turn.request);
  CHECK(task::text_of(*turn->turn.request) == "go");
}

TEST_CASE("Answers: data that does not fit is refused, and the task keeps waiting") {
  EngineBench bench;
  const auto key = ask(bench, kDeploy);
  CHECK(refusal(bench, data(R"({"environment":"moon","replicas":99})")).find("/environment must be one of") !=
        std::string::npos);
  CHECK(head(bench, key).state == State::input_required);
  REQUIRE(bench.submit(saying(data(R"({"environment":"staging","replicas":2})"))));
  const auto turn = bench.scripted().next();
  REQUIRE(turn);
  CHECK(turn->turn.resume_ask == "q1");
  CHECK(turn->turn.message.parts[0] == data(R"({"environment":"staging","replicas":2})"));
}

TEST_CASE("Answers: a text becomes data if the schema makes it unambiguous, otherwise it is refused") {
  EngineBench bench;
  const auto key = ask(bench, kApprove);
  CHECK(refusal(bench, Part::of_text("moon")) == "message.parts: the question requires yes or no");
  CHECK(head(bench, key).state == State::input_required);
  REQUIRE(bench.submit(saying(Part::of_text("yes"))));
  CHECK(bench.scripted().next()->turn.message.parts == std::vector<Part>{data(R"({"approved":true})")});
}

TEST_CASE("Answers: if the schema needs more the card decides whether text is accepted") {
  for (const bool needs_data : {false, true}) {
    EngineBench::Options options;
    options.settings.answers_need_data = needs_data;
    EngineBench bench(options);
    ask(bench, kDeploy);
    const auto accepted = bench.submit(saying(Part::of_text("staging, twice")));
    CHECK(accepted.has_value() == !needs_data);
    if (accepted) CHECK(bench.scripted().next()->turn.message.parts[0] == Part::of_text("staging, twice"));
    if (!accepted) CHECK(accepted.error().for_caller.find("such as {\"environment\":") != std::string::npos);
  }
}

TEST_CASE("Answers: a repeated answer finds the same task, even if the task asks something else by then") {
  EngineBench bench;
  const auto key = ask(bench, kApprove);
  REQUIRE(bench.submit(saying(Part::of_text("yes"), "m1")));
  auto again = bench.submit(saying(Part::of_text("yes"), "m1"));
  REQUIRE(again);
  CHECK(again->repeated);
  bench.scripted().next()->sink->finish(asking(kDeploy, "q2"));
  await_state(bench, key, State::input_required);
  again = bench.submit(saying(Part::of_text("yes"), "m1"));
  REQUIRE(again);
  CHECK(again->repeated);
  CHECK(again->key == key);
  // With another id it is an answer to the new question.
  REQUIRE(bench.submit(saying(Part::of_text("yes"), "m2")));
}

TEST_CASE("Answers: a caller may decline regardless of the schema") {
  EngineBench bench;
  ask(bench, kDeploy);
  REQUIRE(bench.submit(saying(data(R"({"cancelled": true})"))));
}

TEST_CASE("Answers: all answers are checked before the first one is given") {
  EngineBench bench;
  const auto key = ask(bench, kApprove);
  CHECK_FALSE(bench.engine().tasks().check_answer(saying(data("{}"))));
  CHECK(bench.engine().tasks().check_answer(saying(data(R"({"approved":true})"))));
  CHECK(head(bench, key).state == State::input_required);
}

TEST_CASE("Answers: a faulty schema fails a local agent's turn, and the error names the place") {
  const std::pair<const char*, const char*> rows[] = {
      {R"({"$ref":"#"})", "it refers to itself without descending into the value"},
      {R"({"anyOf":["x",3]})", "/anyOf/0 must be a schema: an object, true or false"},
      {R"({"properties":[1]})", "/properties must be an object"},
      {R"({"patternProperties":{}})", "/patternProperties is a keyword that is not supported in questions"},
  };
  for (const auto& [schema, reason] : rows) {
    EngineBench bench;
    const auto key = ask(bench, schema);
    const auto task = bench.engine().reader().read(key, {});
    REQUIRE(task);
    CHECK(task->status.state == State::failed);
    CHECK(task::text_of(*task->status.message) ==
          std::string("the schema of the agent's question is invalid: ") + reason);
  }
}

TEST_CASE("Answers: a faulty schema is removed from the question of a remote agent or tool") {
  EngineBench::Options options;
  SUBCASE("agent") {
    options = elsewhere();
  }
  SUBCASE("tool") {
    options.settings.ends_work_elsewhere = true;
  }
  EngineBench bench(options);
  const auto key = ask(bench, R"({"allOf":[{"$ref":"#"}]})");
  const auto task = bench.engine().reader().read(key, {});
  REQUIRE(task);
  CHECK(task->status.state == State::input_required);
  CHECK(task->status.message->parts == std::vector<Part>{Part::of_text("well?")});
  REQUIRE(bench.submit(saying(data("3"))));
}

TEST_CASE("Answers: a pattern that cannot be enforced is no fault") {
  EngineBench bench;
  const auto key = ask(bench, R"({"type":"string","pattern":"(?=a)b"})");
  CHECK(head(bench, key).state == State::input_required);
  REQUIRE(bench.submit(saying(Part::of_text("anything"))));
  CHECK(bench.scripted().next()->turn.message.parts[0] == data(R"("anything")"));
}

TEST_CASE("Answers: the limits of questions are the server's settings") {
  EngineBench::Options options;
  options.engine.questions.nodes_max = 1;
  EngineBench bench(options);
  const auto key = ask(bench, R"({"items":{}})");
  const auto task = bench.engine().reader().read(key, {});
  CHECK(task->status.state == State::failed);
  CHECK(task::text_of(*task->status.message).find("it has more than 1 schema in it") != std::string::npos);
}

TEST_CASE("Answers: the answer to a child's question is checked at its parent") {
  for (const bool waits : {false, true}) {
    EngineBench bench;
    Family all(bench, waits);
    all.child->sink->finish(asking(kApprove, "child's"));
    REQUIRE(bench.wait(all.key)->state == State::input_required);
    CHECK(refusal(bench, data(R"({"approved":"moon"})")).find("/approved must be true or false") !=
          std::string::npos);
    CHECK(refusal(bench, Part::of_text("moon")) == "message.parts: the question requires yes or no");
    CHECK(head(bench, all.key).state == State::input_required);
    REQUIRE(bench.submit(saying(Part::of_text("no"))));
    const auto again = bench.helper().next();
    REQUIRE(again);
    CHECK(again->turn.resume_ask == "child's");
    CHECK(again->turn.message.parts == std::vector<Part>{data(R"({"approved":false})")});
    again->sink->finish(agents::Done{});
  }
}

TEST_CASE("Answers: an agent's answers to its child are checked like a caller's") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("go", "t1"));
  const auto parent = bench.scripted().next();
  agents::DelegateRequest request;
  request.id = "d1";
  request.agent = "helper";
  request.message.parts.push_back(Part::of_text("work"));
  request.takes_questions = true;
  parent->sink->delegate(request);
  const auto child = bench.helper().next();
  child->sink->finish(asking(kApprove));
  REQUIRE(bench.scripted().wait_for([&] { return parent->delivered.size() == 1; }));
  request.task = child->turn.task;
  request.message.parts = {data(R"({"approved":"moon"})")};
  parent->sink->delegate(request);
  REQUIRE(bench.scripted().wait_for([&] { return parent->delivered.size() == 2; }));
  CHECK(parent->delivered[1].error.find("/approved must be true or false") != std::string::npos);
  request.message.parts = {data(R"({"approved":true})")};
  parent->sink->delegate(request);
  const auto again = bench.helper().next();
  REQUIRE(again);
  CHECK(again->turn.message.parts[0] == data(R"({"approved":true})"));
}

}  // namespace answers_test
