#include "engine/delegate/delegation.h"

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

TEST_CASE("Delegation: the turn gets the child's result, and the child is linked to it") {
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

TEST_CASE("Delegation: a turn that takes its children's questions gets them and can answer") {
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

TEST_CASE("Delegation: a turn can answer and refer only to tasks below its own") {
  EngineBench bench;
  // Two other tasks of the same caller: one that asks, and one that has ended.
  auto other = EngineBench::message("other", "other");
  other.agent.value = "helper";
  const auto asking = bench.submit(other);
  task::Message question;
  question.parts.push_back(task::Part::of_text("how?"));
  bench.helper().next()->sink->finish(agents::Asked{"a", false, question});
  other = EngineBench::message("given", "given");
  other.agent.value = "helper";
  REQUIRE(bench.submit(other));
  bench.helper().next()->sink->finish(agents::Done{});

  auto message = EngineBench::message("parent", "t1");
  message.message.reference_tasks = {{"given"}};
  REQUIRE(bench.submit(message));
  const auto parent = bench.scripted().next();
  REQUIRE(parent);
  auto answer = request_to("helper", "so");
  for (const char* task : {"other", "given", "nobody", "t1"}) {
    CAPTURE(task);
    const std::size_t before = parent->delivered.size();
    answer.task = {task};
    parent->sink->delegate(answer);
    REQUIRE(bench.scripted().wait_for([&] { return parent->delivered.size() > before; }));
    CHECK(parent->delivered.back().error ==
          "task not found: agent \"helper\" has no such task below this one");
  }
  CHECK(bench.engine().reader().head(asking->key)->state == State::input_required);

  auto work = request_to("helper", "work");
  work.message.reference_tasks = {{"other"}, {"given"}};
  parent->sink->delegate(work);
  const auto child = bench.helper().next();
  REQUIRE(child);
  REQUIRE(child->turn.references.size() == 1);
  CHECK(child->turn.references.front().id.value == "given");
  child->sink->delegate(request_to("helper", "below"));
  const auto grandchild = bench.helper().next();
  grandchild->sink->finish(agents::Done{});
  REQUIRE(bench.helper().wait_for([&] { return !child->delivered.empty(); }));
  child->sink->finish(agents::Done{});
  REQUIRE(bench.scripted().wait_for([&] { return parent->delivered.back().task.has_value(); }));
  // The grandchild is below the parent, so the parent may refer to it and, if it asks, answer it.
  work.id = "d2";
  work.message.reference_tasks = {grandchild->turn.task};
  parent->sink->delegate(work);
  const auto second = bench.helper().next();
  REQUIRE(second);
  CHECK(second->turn.references.size() == 1);
  second->sink->finish(agents::Done{});
  parent->sink->finish(agents::Done{});
}

TEST_CASE("Delegation: the agents that ask a plan's questions cannot be used by others") {
  EngineBench bench;
  REQUIRE(bench.submit(EngineBench::message("parent", "t1")));
  const auto parent = bench.scripted().next();
  parent->sink->delegate(request_to("~ask", "x"));
  REQUIRE(bench.scripted().wait_for([&] { return parent->delivered.size() == 1; }));
  CHECK(parent->delivered[0].error == "agent not found: \"~ask\"");
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

TEST_CASE("Delegation: an unknown agent and a chain that is too deep give errors") {
  EngineBench::Options options;
  options.engine.delegation_depth_max = 2;
  EngineBench bench(options);
  REQUIRE(bench.submit(EngineBench::message("parent", "t1")));
  const auto parent = bench.scripted().next();
  parent->sink->delegate(request_to("nobody", "x"));
  REQUIRE(bench.scripted().wait_for([&] { return parent->delivered.size() == 1; }));
  CHECK(parent->delivered[0].error == "agent not found: \"nobody\"");
  parent->sink->delegate(request_to("helper", "x"));
  const auto child = bench.helper().next();
  REQUIRE(child);
  child->sink->delegate(request_to("helper", "x"));
  const auto grandchild = bench.helper().next();
  REQUIRE(grandchild);
  grandchild->sink->delegate(request_to("helper", "x"));
  REQUIRE(bench.helper().wait_for([&] { return !grandchild->delivered.empty(); }));
  CHECK(grandchild->delivered[0].error == "delegation may be at most 2 levels deep (max_depth)");
  for (const auto& running : {grandchild, child, parent}) running->sink->finish(agents::Done{});
}

TEST_CASE("Delegation: a turn that asks on and on for children that it cannot have fails") {
  EngineBench::Options options;
  std::string agent = "~ask", reason;
  int requests = 0;
  SUBCASE("many requests") {
    requests = 10'001;
    reason = "the agent made more than 10000 requests that got no child task in a turn";
  }
  SUBCASE("large requests") {
    options.engine.task_bytes_max = 100'000;
    agent.append(20'000, 'x');
    requests = 10;
    reason = "the task holds more than 100000 bytes";
  }
  EngineBench bench(options);
  const auto accepted = bench.submit(EngineBench::message("parent", "t1"));
  const auto parent = bench.scripted().next();
  REQUIRE(parent);
  for (int i = 0; i < requests; ++i) parent->sink->delegate(request_to(agent, "x"));
  parent->sink->finish(agents::Waits{});
  const auto ended = bench.wait(accepted->key);
  REQUIRE(ended);
  CHECK(ended->state == State::failed);
  const auto task = bench.engine().reader().read(accepted->key, {});
  REQUIRE(task);
  CHECK(task::text_of(*task->status.message) == reason);
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

TEST_CASE("Delegation: a child requested just before the turn's end does not outlive its parent") {
  EngineBench bench;
  for (int i = 0; i < 20; ++i) {
    const auto accepted = bench.submit(EngineBench::message("parent", "t" + std::to_string(i)));
    const auto parent = bench.scripted().next();
    REQUIRE(parent);
    parent->sink->delegate(request_to("helper", "too late"));
    parent->sink->finish(agents::Done{});
    REQUIRE(bench.wait(accepted->key)->state == State::completed);
  }
  // A child's turn that had begun is canceled; otherwise it never begins.
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
