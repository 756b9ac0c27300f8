// How a parent's log shows the children of its turns.
#include <doctest/doctest.h>

#include <thread>

#include "engine/delegate/delegation.h"
#include "support/engine_bench.h"

namespace delegation_subagents_test {

using namespace baton;
using task::State;
using test::EngineBench;

namespace {

using Phase = task::Subagent::Phase;
using RunningPtr = test::ScriptedExecutor::RunningPtr;

agents::DelegateRequest request_to(const std::string& agent, const task::TaskId& child = {}) {
  agents::DelegateRequest request;
  request.id = "d1";
  request.agent = agent;
  request.message.parts.push_back(task::Part::of_text("work"));
  request.task = child;
  request.takes_questions = true;
  return request;
}

agents::Asked asking() {
  task::Message question;
  question.parts.push_back(task::Part::of_text("how?"));
  return {"a", false, std::move(question)};
}

std::vector<task::Subagent> subagents_in(const std::vector<task::Event>& log) {
  std::vector<task::Subagent> found;
  for (const task::Event& event : log) {
    const auto* subagent = std::get_if<task::Subagent>(&event.body);
    if (subagent == nullptr) continue;
    if (subagent->phase != Phase::asks && subagent->phase != Phase::answered) found.push_back(*subagent);
  }
  return found;
}

// The log's subagent events in short, such as "started <name>" or "failed: <error>".
std::vector<std::string> story_of(const std::vector<task::Event>& log) {
  std::vector<std::string> story;
  for (const task::Subagent& event : subagents_in(log)) {
    if (event.phase == Phase::started) story.push_back("started " + event.name);
    if (event.phase == Phase::finished) story.push_back("finished");
    if (event.phase == Phase::failed) story.push_back("failed: " + event.error);
  }
  return story;
}
using Story = std::vector<std::string>;

bool wait_delivered(EngineBench& bench, const RunningPtr& parent, std::size_t count) {
  return bench.scripted().wait_for([&] { return parent->delivered.size() == count; });
}

}  // namespace

TEST_CASE("Delegation: the parent's log shows a child as a subagent, from its start to its end, in order") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("parent", "t1"));
  const auto parent = bench.scripted().next();
  parent->sink->text("I ask. ");
  parent->sink->delegate(request_to("helper"));
  const auto child = bench.helper().next();
  REQUIRE(child);
  child->sink->finish(agents::Done{});
  REQUIRE(wait_delivered(bench, parent, 1));
  parent->sink->text("It says yes.");
  parent->sink->finish(agents::Done{});
  REQUIRE(bench.wait(accepted->key)->state == State::completed);
  const auto log = bench.log(accepted->key);
  const auto events = subagents_in(log);
  REQUIRE(events.size() == 2);
  CHECK(events[0].id == child->turn.task.value);
  CHECK(events[1].id == child->turn.task.value);
  CHECK(story_of(log) == Story{"started helper", "finished"});
  CHECK(subagents_in(
            bench.log(bench.engine().reader().head({task::kAnonymous, {"helper"}, child->turn.task})->key))
            .empty());
  // The parent's reply continues around the subagent, which is no part of its content.
  const auto task = bench.engine().reader().read(accepted->key, {});
  REQUIRE(task->artifacts.size() == 1);
  CHECK(task->artifacts[0].parts.at(0).content == "I ask. It says yes.");
  // The parent's text about the result comes after the subagent's end.
  std::string after;
  for (const task::Event& event : log) {
    if (std::holds_alternative<task::Subagent>(event.body)) after.clear();
    if (const auto* text = std::get_if<task::TextDelta>(&event.body)) after += text->text;
  }
  CHECK(after == "It says yes.");
}

TEST_CASE("Delegation: a failed child is shown as a failed subagent with its reason") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("parent", "t1"));
  const auto parent = bench.scripted().next();
  parent->sink->delegate(request_to("helper"));
  bench.helper().next()->sink->finish(agents::Failed{"no idea"});
  REQUIRE(wait_delivered(bench, parent, 1));
  parent->sink->delegate(request_to("helper"));
  bench.helper().next()->sink->finish(agents::Canceled{});
  REQUIRE(wait_delivered(bench, parent, 2));
  parent->sink->delegate(request_to("nobody"));
  REQUIRE(wait_delivered(bench, parent, 3));
  CHECK(parent->delivered[0].error == "no idea");
  CHECK(parent->delivered[0].task->status.state == task::State::failed);
  CHECK(parent->delivered[1].error == "canceled");
  parent->sink->finish(agents::Done{});
  REQUIRE(bench.wait(accepted->key));
  CHECK(story_of(bench.log(accepted->key)) ==
        Story{"started helper", "failed: no idea", "started helper", "failed: canceled"});
}

TEST_CASE("Delegation: a child that asks and is answered is shown as one subagent") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("parent", "t1"));
  const auto parent = bench.scripted().next();
  parent->sink->delegate(request_to("helper"));
  const auto child = bench.helper().next();
  child->sink->finish(asking());
  REQUIRE(wait_delivered(bench, parent, 1));
  parent->sink->delegate(request_to("helper", child->turn.task));
  bench.helper().next()->sink->finish(agents::Done{});
  REQUIRE(wait_delivered(bench, parent, 2));
  parent->sink->finish(agents::Done{});
  REQUIRE(bench.wait(accepted->key));
  CHECK(story_of(bench.log(accepted->key)) == Story{"started helper", "finished"});
}

TEST_CASE("Delegation: a subagent open at the turn's end is closed, and opened again in the next turn") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("parent", "t1"));
  const auto parent = bench.scripted().next();
  parent->sink->delegate(request_to("helper"));
  const auto child = bench.helper().next();
  child->sink->finish(asking());
  REQUIRE(wait_delivered(bench, parent, 1));
  parent->sink->finish(asking());
  const auto stop = bench.wait(accepted->key);
  REQUIRE(stop->state == State::input_required);
  auto log = bench.log(accepted->key);
  CHECK(story_of(log) == Story{"started helper", "failed: left unfinished"});
  CHECK(std::holds_alternative<task::Subagent>(log.at(log.size() - 2).body));

  REQUIRE(bench.submit(EngineBench::message("so", "t1")));
  const auto again = bench.scripted().next();
  REQUIRE(again);
  for (std::size_t round = 1; round <= 2; ++round) {
    again->sink->delegate(request_to("helper", child->turn.task));
    const auto answered = bench.helper().next();
    REQUIRE(answered);
    round == 1 ? answered->sink->finish(asking()) : answered->sink->finish(agents::Done{});
    REQUIRE(wait_delivered(bench, again, round));
  }
  again->sink->finish(agents::Done{});
  REQUIRE(bench.wait(accepted->key, stop->number.value)->state == State::completed);
  log = bench.log(accepted->key);
  CHECK(story_of(log) == Story{"started helper", "failed: left unfinished", "started helper", "finished"});
  const auto events = subagents_in(log);
  CHECK(events[2].id == events[0].id + "-2");
  CHECK(events[3].id == events[2].id);
}

TEST_CASE("Delegation: a subagent stays open across a restart, until its child ends") {
  EngineBench::Options options;
  options.engine.drain_grace = std::chrono::milliseconds(0);
  EngineBench bench(options);
  const auto accepted = bench.submit(EngineBench::message("parent", "t1"));
  const auto parent = bench.scripted().next();
  REQUIRE(parent);
  parent->sink->delegate(request_to("helper"));
  REQUIRE(bench.helper().next());
  while (subagents_in(bench.log(accepted->key)).empty()) std::this_thread::yield();
  bench.restart();
  CHECK(story_of(bench.log(accepted->key)) == Story{"started helper"});
  bench.helper().next()->sink->finish(agents::Done{});
  const auto again = bench.scripted().next();
  REQUIRE(again);
  again->sink->delegate(request_to("helper"));  // the same child, so no second subagent
  REQUIRE(wait_delivered(bench, again, 1));
  again->sink->finish(agents::Done{});
  REQUIRE(bench.wait(accepted->key)->state == State::completed);
  CHECK(story_of(bench.log(accepted->key)) == Story{"started helper", "finished"});
}

TEST_CASE("Delegation: a canceled parent's open subagent is closed before the task is canceled") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("parent", "t1"));
  const auto parent = bench.scripted().next();
  parent->sink->delegate(request_to("helper"));
  const auto child = bench.helper().next();
  REQUIRE(child);
  auto canceled = bench.cancel_later({"t1"});
  REQUIRE(bench.scripted().wait_for([&] { return parent->canceled; }));
  parent->sink->finish(agents::Canceled{});
  CHECK(canceled.get());
  const auto log = bench.log(accepted->key);
  CHECK(story_of(log) == Story{"started helper", "failed: left unfinished"});
  CHECK(task::status_in(log.back())->status.state == State::canceled);
  CHECK(std::holds_alternative<task::Subagent>(log.at(log.size() - 2).body));
  REQUIRE(bench.helper().wait_for([&] { return child->canceled; }));
  child->sink->finish(agents::Canceled{});
}

}  // namespace delegation_subagents_test
