#include "agents/call_ids.h"

#include <doctest/doctest.h>

#include "support/agent_bench.h"

namespace call_ids_test {

using namespace baton;
using agents::CallIds;
using test::AgentBench;

namespace {

std::shared_ptr<agents::UsedIds> used(const std::vector<std::string>& ids) {
  return std::make_shared<agents::UsedIds>(ids);
}

}  // namespace

TEST_CASE("CallIds: an id that is new in the context is kept") {
  CallIds ids(used({"other"}));
  CHECK(ids.begin("c1") == "c1");
  CHECK(ids.given("c1") == "c1");
  CHECK(ids.given("never called") == "never called");
}

TEST_CASE("CallIds: an id that was used before gets a new numbered suffix") {
  CallIds ids(used({"c1", "c1~2", "c2"}));
  CHECK(ids.begin("c1") == "c1~3");
  CHECK(ids.given("c1") == "c1~3");
  CHECK(ids.begin("c2") == "c2~2");
  CHECK(ids.begin("c1") == "c1~4");
}

TEST_CASE("CallIds: two concurrent turns of a context never use the same id") {
  const auto shared = used({});
  CallIds one(shared), other(shared);
  CHECK(one.begin("c1") == "c1");
  CHECK(other.begin("c1") == "c1~2");
  CHECK(one.given("c1") == "c1");
  CHECK(other.given("c1") == "c1~2");
  CHECK(one.own("c1~2") == "c1");
}

TEST_CASE("CallIds: the agent's own id is recovered, also in a later turn") {
  const CallIds later(used({"c1", "c1~2", "own~7", "mark~", "c1~x"}));
  CHECK(later.own("c1~2") == "c1");
  CHECK(later.own("c1") == "c1");
  CHECK(later.own("c1~3") == "c1~3");
  CHECK(later.own("own~7") == "own~7");
  CHECK(later.own("mark~") == "mark~");
  CHECK(later.own("c1~x") == "c1~x");
  CHECK(later.own("") == "");
}

TEST_CASE("LineTurn: a call gets an id that is new in its context, and its result and ask use it too") {
  AgentBench bench;
  bench.shell(R"SH(read line
echo '{"type":"tool-call","id":"c1","name":"own_tool"}'
echo '{"type":"tool-result","id":"c1","content":[1]}'
echo '{"type":"tool-call","id":"c2","name":"left_open"}'
echo '{"type":"tool-call","id":"c3","name":"pick"}')SH");
  agents::Turn turn = AgentBench::turn_of("x");
  turn.tools.text = R"([{"name":"pick"}])";
  turn.used_ids = used({"c1", "c2", "c3", "c3~2"});
  auto running = bench.start(std::move(turn));
  REQUIRE(running.sink->wait_finished());
  const auto& events = running.sink->events();
  REQUIRE(events.size() == 5);
  CHECK(std::get<task::ToolCall>(events[0]).id == "c1~2");
  CHECK(std::get<task::ToolResult>(events[1]).id == "c1~2");
  CHECK(std::get<task::ToolCall>(events[2]).id == "c2~2");
  CHECK(std::get<task::ToolCall>(events[3]).id == "c3~3");
  CHECK(std::get<task::ToolResult>(events[4]).id == "c2~2");
  const auto* asked = running.sink->outcome_as<agents::Asked>();
  REQUIRE(asked != nullptr);
  CHECK(asked->id == "c3~3");
  CHECK(asked->message.parts[1].content.find(R"("id":"c3~3")") != std::string::npos);
}

TEST_CASE("LineTurn: an agent gets the result of its call under its own id") {
  AgentBench bench;
  bench.python(R"PY(
import json, sys
turn = json.loads(sys.stdin.readline())
result = json.loads(sys.stdin.readline())
print(json.dumps({"type": "done", "message": turn["resume"]["ask"] + " " + result["id"]}))
)PY");
  agents::Turn turn = AgentBench::turn_of("here");
  turn.used_ids = used({"c1", "c1~2"});
  turn.resume_ask = "c1~2";
  turn.message.parts.push_back(task::Part::of_data({R"({"toolResult":{"id":"c1~2","content":4}})"}));
  auto running = bench.start(std::move(turn));
  REQUIRE(running.sink->wait_finished());
  const auto* done = running.sink->outcome_as<agents::Done>();
  REQUIRE(done != nullptr);
  CHECK(task::text_of(*done->message) == "c1 c1");
}

TEST_CASE("LineTurn: a question gets an id that is new in its context") {
  AgentBench bench;
  bench.shell(R"SH(read line
echo '{"type":"ask","id":"q","message":"sure?"}')SH");
  agents::Turn turn = AgentBench::turn_of("x");
  turn.used_ids = used({"q"});
  auto running = bench.start(std::move(turn));
  REQUIRE(running.sink->wait_finished());
  const auto* asked = running.sink->outcome_as<agents::Asked>();
  REQUIRE(asked != nullptr);
  CHECK(asked->id == "q~2");
}

}  // namespace call_ids_test
