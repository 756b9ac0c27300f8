// The results of children that a turn gets when it continues after waiting.
#include <doctest/doctest.h>

#include <thread>

#include "support/engine_bench.h"

namespace delegation_results_test {

using namespace baton;
using task::State;
using test::EngineBench;

namespace {

agents::DelegateRequest call(const std::string& id) {
  agents::DelegateRequest request;
  request.id = id;
  request.agent = "helper";
  request.message.parts.push_back(task::Part::of_text("work"));
  return request;
}

agents::Asked question() {
  task::Message message;
  message.parts.push_back(task::Part::of_text("how?"));
  return {"a", false, std::move(message)};
}

}  // namespace

TEST_CASE("Delegation: a child that somebody else answered is still reported with its question") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("parent", "t1"));
  const auto parent = bench.scripted().next();
  auto mine = call("d1");
  mine.takes_questions = true;
  parent->sink->delegate(mine);
  const auto asking = bench.helper().next();
  REQUIRE(asking);
  parent->sink->delegate(call("d2"));
  const auto other = bench.helper().next();
  REQUIRE(other);
  parent->sink->finish(agents::Waits{});
  while (bench.engine().reader().head(accepted->key)->turn_state != task::TurnState::waiting) {
    std::this_thread::yield();
  }
  asking->sink->finish(question());
  while (bench.engine().reader().head(accepted->key)->awaited != 1) std::this_thread::yield();
  auto answer = EngineBench::message("like this", asking->turn.task.value);
  answer.agent = {"helper"};
  REQUIRE(bench.submit(answer));
  const auto answered = bench.helper().next();
  REQUIRE(answered);
  other->sink->finish(agents::Done{});

  const auto next = bench.scripted().next();
  REQUIRE(next);
  REQUIRE(next->turn.results.size() == 2);
  CHECK(next->turn.results[0].id == "d1");
  REQUIRE(next->turn.results[0].task);
  CHECK(next->turn.results[0].task->status.state == State::input_required);
  CHECK(task::text_of(*next->turn.results[0].task->status.message) == "how?");
  CHECK(next->turn.results[1].task->status.state == State::completed);
  answered->sink->finish(agents::Done{});
  next->sink->finish(agents::Done{});
  CHECK(bench.wait(accepted->key)->state == State::completed);
}

TEST_CASE("Delegation: results beyond the total limit become errors, and the others stay") {
  EngineBench bench;
  bench.submit(EngineBench::message("parent", "t1"));
  const auto parent = bench.scripted().next();
  int named = 0;
  for (const auto mebibytes : {3, 3, 3, 1}) {
    parent->sink->delegate(call("d" + std::to_string(++named)));
    const auto child = bench.helper().next();
    REQUIRE(child);
    child->sink->text(std::string(static_cast<std::size_t>(mebibytes) << 20, 'x'));
    child->sink->finish(agents::Done{});
  }
  parent->sink->finish(agents::Waits{});
  const auto next = bench.scripted().next();
  REQUIRE(next);
  REQUIRE(next->turn.results.size() == 4);
  for (const int whole : {0, 1, 3}) CHECK(next->turn.results[static_cast<std::size_t>(whole)].task);
  CHECK_FALSE(next->turn.results[2].task);
  CHECK(next->turn.results[2].error == "the child's result is too large together with the earlier ones");
}

}  // namespace delegation_results_test
