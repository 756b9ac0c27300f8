#include "agents/command/agent_output.h"

#include <doctest/doctest.h>

#include "support/recording_sink.h"

namespace agent_output_test {

using namespace baton;

namespace {

const std::string kRefused = "the agent printed a line that violates the line protocol: ";

struct Bench {
  explicit Bench(std::string_view client_tools = {}) {
    agents::Turn turn;
    turn.tools.text = client_tools;
    output.emplace(turn, agents::AgentSettings{}, gate);
  }

  bool say(std::string_view line) {
    auto decoded = agents::line::decode(line);
    REQUIRE_MESSAGE(decoded.has_value(), line);
    return output->forward(std::move(decoded->message));
  }
  template <class T>
  const T& event(std::size_t index) {
    REQUIRE(index < sink->events().size());
    return std::get<T>(sink->events()[index]);
  }

  std::shared_ptr<test::RecordingSink> sink = std::make_shared<test::RecordingSink>();
  agents::SinkGate gate{sink};
  std::optional<agents::AgentOutput> output;
};

}  // namespace

TEST_CASE("AgentOutput: empty pieces of text and reasoning do not reach the sink") {
  Bench bench;
  for (const char* line : {R"({"type":"text","delta":""})", R"({"type":"reasoning","delta":""})",
                           R"({"type":"reasoning","delta":"hm"})", R"({"type":"text","delta":"so"})"}) {
    CHECK(bench.say(line));
  }
  CHECK(bench.sink->text_calls() == 1);
  CHECK(bench.sink->all_text() == "so");
  CHECK(bench.sink->all_reasoning() == "hm");
}

TEST_CASE("AgentOutput: custom events, activities and usage reach the sink") {
  Bench bench;
  CHECK(bench.say(R"({"type":"custom","name":"n","value":1})"));
  CHECK(bench.say(R"({"type":"activity","id":"a","activity":"PLAN","content":{}})"));
  CHECK(bench.say(R"({"type":"usage","usage":{"inputTokens":3}})"));
  CHECK(bench.event<task::Custom>(0).name == "n");
  CHECK(bench.event<task::Activity>(1).type == "PLAN");
  CHECK(bench.event<task::Usage>(2).used.text == R"({"inputTokens":3})");
}

TEST_CASE("AgentOutput: open calls and steps are closed before every kind of end") {
  const char* const ends[] = {R"({"type":"done"})", R"({"type":"fail","error":"e"})", R"({"type":"reject"})",
                              R"({"type":"ask","message":"?"})"};
  for (const char* end : ends) {
    CAPTURE(end);
    Bench bench;
    CHECK(bench.say(R"({"type":"step","name":"s","phase":"start"})"));
    CHECK(bench.say(R"({"type":"tool-call","id":"c","name":"own"})"));
    CHECK(bench.say(end));
    REQUIRE(bench.sink->events().size() == 4);
    CHECK(bench.event<task::ToolResult>(2).id == "c");
    CHECK(bench.event<task::ToolResult>(2).error == "the agent gave no result");
    CHECK(bench.event<task::Step>(3).phase == task::Step::Phase::finish);
    CHECK(bench.sink->finished());
  }
}

TEST_CASE("AgentOutput: a failure that Baton detects also closes open calls, and only once") {
  Bench bench;
  CHECK(bench.say(R"({"type":"tool-call","id":"c","name":"own"})"));
  bench.output->fail("the process died");
  bench.output->fail("again");
  CHECK(bench.sink->events().size() == 2);
  CHECK(bench.event<task::ToolResult>(1).id == "c");
  CHECK(bench.sink->ending() == "the process died");
  CHECK(bench.sink->outcomes().size() == 1);
}

TEST_CASE("AgentOutput: before the turn waits, open calls but the client's get a result") {
  Bench bench(R"([{"name":"pick"}])");
  CHECK(bench.say(R"({"type":"tool-call","id":"own","name":"find"})"));
  CHECK(bench.say(R"({"type":"tool-call","id":"theirs","name":"pick"})"));
  REQUIRE(bench.sink->events().size() == 3);
  CHECK_FALSE(bench.event<task::ToolCall>(0).by_client);
  CHECK(bench.event<task::ToolCall>(1).by_client);
  CHECK(bench.event<task::ToolResult>(2).id == "own");
  const auto* asked = bench.sink->outcome_as<agents::Asked>();
  REQUIRE(asked != nullptr);
  CHECK(asked->id == "theirs");
}

TEST_CASE("AgentOutput: an event out of order fails the turn and does not reach the sink") {
  const std::pair<const char*, const char*> wrong[] = {
      {R"({"type":"step","name":"s","phase":"finish"})", R"(step: "s" has not started)"},
      {R"({"type":"tool-result","id":"x","content":1})", R"(tool-result: this turn has no call "x")"},
      {R"({"type":"tool-call","id":"c","name":"own"})", R"(tool-call: this turn already has a call "c")"},
      {R"({"type":"tool-call","id":"c","name":"pick"})", R"(tool-call: this turn already has a call "c")"}};
  for (const auto& [line, why] : wrong) {
    CAPTURE(line);
    Bench bench(R"([{"name":"pick"}])");
    CHECK(bench.say(R"({"type":"tool-call","id":"c","name":"own"})"));
    CHECK(bench.say(R"({"type":"tool-result","id":"c","content":1})"));
    CHECK_FALSE(bench.say(line));
    CHECK(bench.output->ended());
    CHECK(bench.sink->ending() == kRefused + why);
    CHECK(bench.sink->events().size() == 2);
  }
}

}  // namespace agent_output_test
