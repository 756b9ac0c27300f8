#include "agents/unfinished_steps.h"

#include <doctest/doctest.h>

namespace unfinished_steps_test {

using namespace baton;
using agents::UnfinishedSteps;
using task::Step;
using task::ToolCall;
using task::ToolResult;

namespace {

ToolCall call(std::string id, bool by_client = false) {
  return {std::move(id), "find", {"{}"}, by_client};
}
ToolResult result(std::string id) {
  return {std::move(id), {"1"}, {}};
}
Step begin(std::string name) {
  return {std::move(name), Step::Phase::start};
}
Step finish(std::string name) {
  return {std::move(name), Step::Phase::finish};
}

}  // namespace

TEST_CASE("UnfinishedSteps: steps and calls may overlap, and a finished step may begin again") {
  UnfinishedSteps open;
  for (const task::EventBody& body :
       {task::EventBody{begin("a")}, task::EventBody{begin("b")}, task::EventBody{call("1")},
        task::EventBody{call("2")}, task::EventBody{result("2")}, task::EventBody{finish("a")},
        task::EventBody{result("1")}, task::EventBody{begin("a")}, task::EventBody{finish("b")},
        task::EventBody{finish("a")}, task::EventBody{task::StateSnapshot{{"1"}}}}) {
    CHECK(open.record(body).empty());
  }
  CHECK(open.close().empty());
}

TEST_CASE("UnfinishedSteps: opening or closing out of order is refused, and the error has the name") {
  UnfinishedSteps open;
  CHECK(open.record(finish("plan")) == "step: \"plan\" has not started");
  CHECK(open.record(begin("plan")).empty());
  CHECK(open.record(begin("plan")) == "step: \"plan\" has already started");
  CHECK(open.record(finish("plan")).empty());
  CHECK(open.record(finish("plan")) == "step: \"plan\" has not started");

  CHECK(open.record(result("c1")) == "tool-result: this turn has no call \"c1\"");
  CHECK(open.record(call("c1")).empty());
  CHECK(open.record(call("c1")) == "tool-call: this turn already has a call \"c1\"");
  CHECK(open.record(result("c1")).empty());
  CHECK(open.record(result("c1")) == "tool-result: the call \"c1\" already has its result");
  CHECK(open.record(call("c1")) == "tool-call: this turn already has a call \"c1\"");
}

TEST_CASE("UnfinishedSteps: close gives open calls a result, then ends steps, the last begun first") {
  UnfinishedSteps open;
  for (const task::EventBody& body :
       {task::EventBody{begin("a")}, task::EventBody{begin("z")}, task::EventBody{begin("b")},
        task::EventBody{call("9")}, task::EventBody{call("1")}, task::EventBody{call("5")},
        task::EventBody{result("1")}, task::EventBody{finish("z")}}) {
    REQUIRE(open.record(body).empty());
  }
  const std::vector<task::EventBody> ends = open.close();
  REQUIRE(ends.size() == 4);
  CHECK(std::get<ToolResult>(ends[0]).id == "9");
  CHECK(std::get<ToolResult>(ends[0]).error == "the agent gave no result");
  CHECK(std::get<ToolResult>(ends[0]).content.empty());
  CHECK(std::get<ToolResult>(ends[1]).id == "5");
  CHECK(std::get<Step>(ends[2]).name == "b");
  CHECK(std::get<Step>(ends[2]).phase == Step::Phase::finish);
  CHECK(std::get<Step>(ends[3]).name == "a");
  CHECK(open.close().empty());
}

TEST_CASE("UnfinishedSteps: a client's call stays open, and the agent's result for it is refused") {
  UnfinishedSteps open;
  CHECK(open.record(call("c", true)).empty());
  CHECK_FALSE(open.record(result("c")).empty());
  CHECK(open.close().empty());
}

}  // namespace unfinished_steps_test
