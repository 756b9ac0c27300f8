#include "agents/agui/run_relay.h"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>

#include "support/agent_bench.h"

namespace run_relay_test {

using namespace baton;
using agents::RunRelay;

namespace {

// Runs `body` with the relay of a turn whose client has the tool "point", and returns the turn's sink.
std::shared_ptr<test::RecordingSink> relayed(std::size_t arguments_max,
                                             const std::function<void(RunRelay&)>& body) {
  base::WorkerPool pool("functions", 1, 10);
  agents::FunctionExecutor executor(pool, [&](agents::FunctionTurn& turn) {
    RunRelay relay(turn, arguments_max);
    body(relay);
  });
  agents::Turn turn = test::AgentBench::turn_of("hi");
  turn.tools.text = R"([{"name":"point"}])";
  auto sink = std::make_shared<test::RecordingSink>();
  const auto execution = executor.start(std::move(turn), sink);
  CHECK(sink->wait_finished());
  pool.stop();
  return sink;
}

task::EventBody call_of(const std::string& id, const std::string& name, std::size_t size = 10) {
  return task::ToolCall{id, name, {"\"" + std::string(size, 'x') + "\""}, false};
}

}  // namespace

TEST_CASE("RunRelay: arguments of client tools over the limit end the run, and the error names the setting") {
  (void)relayed(200, [](RunRelay& relay) {
    // Calls that the endpoint has answered itself and calls of its own tools do not count.
    for (int i = 0; i < 10; ++i) {
      const std::string id = "c" + std::to_string(i);
      relay.tell(call_of(id, "point", 100));
      CHECK(relay.held() > 100);
      relay.tell(task::EventBody{task::ToolResult{id, {"1"}, {}}});
      relay.tell(call_of("own" + id, "look", 100));
      CHECK(relay.held() == 0);
    }
    relay.tell(call_of("a", "point", 100));
    CHECK(relay.refusal().empty());
    relay.tell(call_of("b", "point", 100));
    CHECK(relay.refusal().find("200 bytes (outbound.tool_arguments_max)") != std::string::npos);
  });
}

TEST_CASE("RunRelay: the turn asks for the first open client call, and a repeated call counts once") {
  const auto sink = relayed(1'000, [](RunRelay& relay) {
    relay.tell(call_of("a", "point"));
    relay.tell(call_of("a", "point"));
    relay.tell(call_of("b", "point"));
    relay.tell(task::EventBody{task::ToolResult{"a", {"1"}, {}}});
    relay.finish({});
  });
  const auto* asked = sink->outcome_as<agents::Asked>();
  REQUIRE(asked != nullptr);
  CHECK(asked->id == "b");
  REQUIRE(sink->events().size() == 3);  // a's call, its result, and b's call
  CHECK(std::get<task::ToolCall>(sink->events().back()).id == "b");
}

TEST_CASE("RunRelay: a question says in words what it is about") {
  const auto sink = relayed(1'000, [](RunRelay& relay) {
    protocol::agui::RunEnd end{protocol::agui::RunEnd::Kind::interrupted};
    end.interrupts.push_back({"i", "Approve?", {}});
    end.interrupts.back().about.text =
        R"({"question":"Approve?","action":"transfer","to":[{"iban":"X","sum":900}]})";
    relay.finish(end);
  });
  const auto* asked = sink->outcome_as<agents::Asked>();
  REQUIRE(asked != nullptr);
  CHECK(task::text_of(asked->message) == "Approve?\naction: transfer\nto / 1 / iban: X\nto / 1 / sum: 900");
  CHECK(asked->message.parts.back().content.find(R"({"about":{"question")") == 0);
}

}  // namespace run_relay_test
