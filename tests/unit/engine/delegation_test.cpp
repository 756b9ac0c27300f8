#include "engine/delegation.h"

#include <doctest/doctest.h>

#include <thread>

#include "support/engine_bench.h"

namespace delegation_test {

using namespace baton;
using task::State;
using test::EngineBench;

namespace {

agents::DelegateRequest request_to(const std::string& agent, const std::string& text) {
  agents::DelegateRequest request;
  request.id = "d1";
  request.agent = agent;
  request.message.parts.push_back(task::Part::of_text(text));
  return request;
}

}  // namespace

TEST_CASE("Delegation: the child's result comes back to the turn, and the child is linked") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("parent", "t1"));
  const auto parent = bench.scripted().next();
  REQUIRE(parent);
  parent->sink->delegate(request_to("helper", "do this"));
  const auto child = bench.helper().next();
  REQUIRE(child);
  CHECK(task::text_of(child->turn.message) == "do this");
  CHECK(bench.store().open_tasks(store::TaskStore::Open::children, accepted->key, 100)->size() == 1);
  child->sink->text("done that");
  child->sink->finish(agents::Done{});
  REQUIRE(bench.scripted().wait_for([&] { return !parent->delivered.empty(); }));
  const agents::DelegateResult& result = parent->delivered.front();
  CHECK(result.id == "d1");
  REQUIRE(result.task);
  CHECK(result.task->status.state == State::completed);
  CHECK(result.task->artifacts.at(0).parts.at(0).content == "done that");
  parent->sink->finish(agents::Done{});
  CHECK(bench.wait(accepted->key)->state == State::completed);
}

TEST_CASE(
    "Delegation: a child that asks comes back to a turn that takes its questions, and can be answered") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("parent", "t1"));
  const auto parent = bench.scripted().next();
  auto request = request_to("helper", "do this");
  request.takes_questions = true;
  parent->sink->delegate(request);
  task::Message question;
  question.parts.push_back(task::Part::of_text("how?"));
  bench.helper().next()->sink->finish(agents::Asked{"a", false, question});
  REQUIRE(bench.scripted().wait_for([&] { return parent->delivered.size() == 1; }));
  REQUIRE(parent->delivered[0].task);
  CHECK(parent->delivered[0].task->status.state == State::input_required);
  auto answer = request_to("helper", "so");
  answer.task = parent->delivered[0].task->id;
  parent->sink->delegate(answer);
  const auto again = bench.helper().next();
  REQUIRE(again);
  CHECK(again->turn.resume_ask == "a");
  again->sink->finish(agents::Done{});
  REQUIRE(bench.scripted().wait_for([&] { return parent->delivered.size() == 2; }));
  CHECK(parent->delivered[1].task->status.state == State::completed);
  parent->sink->finish(agents::Done{});
  CHECK(bench.wait(accepted->key)->state == State::completed);
}

TEST_CASE("Delegation: with one slot a parent does not starve its child") {
  EngineBench::Options options;
  options.engine.slots = 1;
  options.settings.concurrency = 1;
  EngineBench bench(options);
  const auto accepted = bench.submit(EngineBench::message("parent", "t1"));
  const auto parent = bench.scripted().next();
  parent->sink->delegate(request_to("scripted", "to myself"));
  const auto child = bench.scripted().next();
  REQUIRE(child);
  child->sink->finish(agents::Done{});
  REQUIRE(bench.scripted().wait_for([&] { return !parent->delivered.empty(); }));
  parent->sink->finish(agents::Done{});
  CHECK(bench.wait(accepted->key)->state == State::completed);
}

TEST_CASE("Delegation: an agent that is not there, and one too deep, come back as errors") {
  EngineBench::Options options;
  options.engine.delegation_depth_max = 2;
  EngineBench bench(options);
  REQUIRE(bench.submit(EngineBench::message("parent", "t1")));
  const auto parent = bench.scripted().next();
  parent->sink->delegate(request_to("nobody", "x"));
  REQUIRE(bench.scripted().wait_for([&] { return parent->delivered.size() == 1; }));
  CHECK(parent->delivered[0].error == "there is no agent \"nobody\"");
  parent->sink->delegate(request_to("helper", "x"));
  const auto child = bench.helper().next();
  REQUIRE(child);
  child->sink->delegate(request_to("helper", "x"));
  const auto grandchild = bench.helper().next();
  REQUIRE(grandchild);
  grandchild->sink->delegate(request_to("helper", "x"));
  REQUIRE(bench.helper().wait_for([&] { return !grandchild->delivered.empty(); }));
  CHECK(grandchild->delivered[0].error == "tasks may be delegated 2 deep only (max_depth)");
  for (const auto& running : {grandchild, child, parent}) running->sink->finish(agents::Done{});
}

TEST_CASE("Delegation: when the parent ends its open children are canceled") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("parent", "t1"));
  const auto parent = bench.scripted().next();
  parent->sink->delegate(request_to("helper", "long work"));
  const auto child = bench.helper().next();
  REQUIRE(child);
  auto canceled = bench.cancel_later({"t1"});
  REQUIRE(bench.scripted().wait_for([&] { return parent->canceled; }));
  parent->sink->finish(agents::Canceled{});
  CHECK(canceled.get());
  REQUIRE(bench.helper().wait_for([&] { return child->canceled; }));
  child->sink->finish(agents::Canceled{});
  while (!bench.store().open_tasks(store::TaskStore::Open::children, accepted->key, 100)->empty())
    std::this_thread::yield();
}

TEST_CASE("Delegation: a child that was asked for with the turn's last word does not outlive its parent") {
  EngineBench bench;
  for (int i = 0; i < 20; ++i) {
    const auto accepted = bench.submit(EngineBench::message("parent", "t" + std::to_string(i)));
    const auto parent = bench.scripted().next();
    REQUIRE(parent);
    parent->sink->delegate(request_to("helper", "too late"));
    parent->sink->finish(agents::Done{});
    REQUIRE(bench.wait(accepted->key)->state == State::completed);
  }
  // Whether a child's turn had begun or not: it is told to stop or never starts.
  while (bench.store().open_tasks(store::TaskStore::Open::unfinished, {}, 100)->size() > 0) {
    if (const auto child = bench.helper().waiting() > 0 ? bench.helper().next() : nullptr) {
      REQUIRE(bench.helper().wait_for([&] { return child->canceled || child->let_go; }));
      child->sink->finish(agents::Canceled{});
    }
    std::this_thread::yield();
  }
  CHECK(bench.store().open_tasks(store::TaskStore::Open::orphans, {}, 100)->empty());
}

}  // namespace delegation_test
