#include "agents/agui/run_relay.h"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>

#include "agents/questions.h"
#include "support/agent_bench.h"

namespace run_relay_test {

using namespace baton;
using agents::RunRelay;

namespace {

// Runs `body` with the relay of the turn, and returns the turn's sink.
std::shared_ptr<test::RecordingSink> relayed(const agents::Turn& turn, std::size_t arguments_max,
                                             const std::function<void(RunRelay&)>& body) {
  auto sink = std::make_shared<test::RecordingSink>();
  agents::SinkGate gate(sink);
  agents::TurnOutput output(gate, turn.reply_ids);
  RunRelay relay(turn, output, arguments_max);
  body(relay);
  output.finish(agents::Done{});
  return sink;
}

// The same for a turn whose client has the tool "point".
std::shared_ptr<test::RecordingSink> relayed(std::size_t arguments_max,
                                             const std::function<void(RunRelay&)>& body) {
  agents::Turn turn = test::AgentBench::turn_of("hi");
  turn.tools.text = R"([{"name":"point"}])";
  return relayed(turn, arguments_max, body);
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

using protocol::agui::RunSnapshot;
using protocol::agui::RunText;

namespace {

// A snapshot whose only news are these calls.
RunSnapshot shown(std::vector<task::ToolCall> calls) {
  return {.said = {}, .has_user = true, .calls = std::move(calls)};
}

const task::ToolCall kPointA{"a", "point", {"{}"}, false}, kPointB{"b", "point", {"{}"}, false};

}  // namespace

TEST_CASE("RunRelay: a client call that only a snapshot tells is asked for, and no call is asked for twice") {
  const auto asked_for = [](const std::function<void(RunRelay&)>& tell) -> std::string {
    const auto sink = relayed(1'000, [&](RunRelay& relay) {
      tell(relay);
      relay.finish({});
    });
    const auto* asked = sink->outcome_as<agents::Asked>();
    if (asked == nullptr) return {};
    REQUIRE_FALSE(sink->events().empty());
    const auto* call = std::get_if<task::ToolCall>(&sink->events().back());
    REQUIRE(call != nullptr);
    CHECK(call->by_client);
    CHECK(call->id == asked->id);
    return asked->id;
  };
  const task::ToolCall own{"o", "look", {"{}"}, false};
  const task::EventBody result_of_a = task::ToolResult{"a", {"1"}, {}};
  CHECK(asked_for([&](RunRelay& relay) { relay.tell(shown({own, kPointA, kPointB})); }) == "a");
  CHECK(asked_for([&](RunRelay& relay) { relay.tell(shown({own})); }).empty());
  // The last snapshot decides.
  CHECK(asked_for([&](RunRelay& relay) {
          relay.tell(shown({kPointA}));
          relay.tell(shown({}));
        }).empty());
  // Events and a snapshot tell the same call.
  CHECK(asked_for([&](RunRelay& relay) {
          relay.tell(task::EventBody{kPointA});
          relay.tell(shown({kPointA}));
        }) == "a");
  CHECK(asked_for([&](RunRelay& relay) {
          relay.tell(task::EventBody{kPointA});
          relay.tell(result_of_a);
          relay.tell(shown({kPointA}));
        }).empty());
  CHECK(asked_for([&](RunRelay& relay) {
          relay.tell(shown({kPointA}));
          relay.tell(result_of_a);
        }).empty());
}

TEST_CASE("RunRelay: a call in a snapshot that the caller has answered is not asked for again") {
  const auto words = [](const std::string& text) {
    task::Message message;
    message.parts.push_back(task::Part::of_text(text));
    return message;
  };
  task::Message result;
  result.parts.push_back(task::Part::of_data({R"({"toolResult":{"id":"a~2","content":"1"}})"}));
  agents::Turn turn = test::AgentBench::turn_of("hi");
  turn.tools.text = R"([{"name":"point"}])";
  turn.used_ids = std::make_shared<agents::UsedIds>(std::vector<std::string>{"a", "a~2"});
  turn.message = result;
  const auto asks = [&] {
    const auto sink = relayed(turn, 1'000, [](RunRelay& relay) {
      relay.tell(shown({kPointA}));
      relay.finish({});
    });
    return sink->outcome_as<agents::Asked>() != nullptr;
  };
  CHECK_FALSE(asks());
  // The caller has answered another call since then, without words.
  task::Message reply = words("let me see");
  reply.role = task::Role::agent;
  turn.history = {words("hi"), result, reply};
  turn.message.parts = {task::Part::of_data({R"({"toolResult":{"id":"b","content":"1"}})"})};
  CHECK_FALSE(asks());
  // Since then the user has said something, and the endpoint uses the id again.
  turn.history = {result};
  turn.message = words("and now?");
  CHECK(asks());
}

TEST_CASE("RunRelay: the call that a snapshot tells counts towards the limit, and the last one alone") {
  (void)relayed(200, [](RunRelay& relay) {
    for (int i = 0; i < 10; ++i) {
      relay.tell(shown({{"c" + std::to_string(i), "point", {"\"" + std::string(100, 'x') + "\""}, false}}));
      CHECK(relay.held() > 100);
    }
    relay.tell(shown({}));
    CHECK(relay.held() == 0);
    CHECK(relay.refusal().empty());
    relay.tell(shown({{"d", "point", {"\"" + std::string(300, 'x') + "\""}, false}}));
    CHECK(relay.refusal().find("200 bytes (outbound.tool_arguments_max)") != std::string::npos);
  });
}

// The replies that a run makes of these pieces.
std::vector<std::string> said(std::vector<protocol::agui::RunPiece> pieces) {
  const auto sink = relayed(1'000, [&](RunRelay& relay) {
    for (auto& piece : pieces) relay.tell(std::move(piece));
    CHECK(relay.refusal().empty());
  });
  std::vector<std::string> texts;
  for (const agents::SaidReply& reply : sink->replies()) texts.push_back(reply.text);
  return texts;
}

TEST_CASE("RunRelay: messages that are streamed in turns are replies of their own") {
  CHECK(said({RunText{"a", "one"}, RunText{"b", "eins"}, RunText{"a", " two"}, RunText{"a", "", true},
              RunText{"b", " zwei"}}) == std::vector<std::string>{"one two", "eins zwei"});
}

TEST_CASE("RunRelay: a snapshot replaces a message that differs, continues one, and adds a new one") {
  using Texts = std::vector<std::string>;
  const RunText draft{"a", "a draft"};
  CHECK(said({draft, RunSnapshot{{{"a", "a draft", true}}}}) == Texts{"a draft"});
  CHECK(said({draft, RunSnapshot{{{"a", "a draft of it", true}}}}) == Texts{"a draft of it"});
  CHECK(said({draft, RunSnapshot{{{"a", "the answer", true}}}}) == Texts{"the answer"});
  CHECK(said({draft, RunSnapshot{{{"a", "a draft", true}, {"b", "more", true}}}}) ==
        Texts{"a draft", "more"});
  CHECK(said({RunSnapshot{{{"a", "only here", true}}}}) == Texts{"only here"});
}

TEST_CASE("RunRelay: a snapshot may store a message under another id, and withdraws what it lacks") {
  using Texts = std::vector<std::string>;
  const RunText draft{"a", "a draft"}, end{"a", "", true};
  CHECK(said({draft, end, RunSnapshot{{{"stored", "a draft", true}}}}) == Texts{"a draft"});
  CHECK(said({draft, end, RunSnapshot{{{"b", "the answer", true}}}}) == Texts{"", "the answer"});
  CHECK(said({draft, RunSnapshot{{{"b", "the answer", true}}}}) == Texts{"a draft", "the answer"});
  CHECK(said({draft, end, RunSnapshot{}}) == Texts{"a draft"});
  CHECK(said({draft, end, RunSnapshot{{}, true}}) == Texts{""});
  CHECK(said({draft, RunSnapshot{{}, true}}) == Texts{"a draft"});
  CHECK(said({draft, end, RunSnapshot{{}, true}, RunSnapshot{{{"a", "a draft", true}}, true}}) ==
        Texts{"a draft"});
}

TEST_CASE("RunRelay: messages of earlier runs in a snapshot are no news") {
  agents::Turn turn = test::AgentBench::turn_of("hi");
  turn.history.emplace_back().id.value = "h";
  turn.artifacts.emplace_back().parts.push_back(task::Part::of_text("asked before"));
  const auto sink = relayed(turn, 1'000, [](RunRelay& relay) {
    relay.tell(RunSnapshot{{{"h", "told", true}, {"theirs", "asked before", true}, {"n", "new", true}}});
  });
  REQUIRE(sink->replies().size() == 1);
  CHECK(sink->replies()[0].text == "new");
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

TEST_CASE("RunRelay: the words about a question, and what they cost, are bounded whatever its subject is") {
  std::string about = "{\"" + std::string(1'000'000, 'k') + "\":[";
  for (int i = 0; i < 300'000; ++i) about += "[],";
  about += "\"end\"]}";
  const auto sink = relayed(1'000, [&](RunRelay& relay) {
    protocol::agui::RunEnd end;
    end.kind = protocol::agui::RunEnd::Kind::interrupted;
    end.interrupts.push_back({"q", "Sure?", {}});
    end.interrupts.back().about.text = about;
    relay.finish(end);
  });
  const auto* asked = sink->outcome_as<agents::Asked>();
  REQUIRE(asked != nullptr);
  CHECK(task::text_of(asked->message).size() < 50'000);
}

TEST_CASE("RunRelay: too many open steps end the run") {
  (void)relayed(1'000, [](RunRelay& relay) {
    int begun = 0;
    while (relay.refusal().empty() && begun < 20'000)
      relay.tell(task::EventBody{task::Step{std::to_string(begun++), task::Step::Phase::start}});
    CHECK(begun == 10'001);
  });
}

TEST_CASE("RunRelay: several questions at once are one, with all that each of them carries") {
  const auto sink = relayed(1'000, [](RunRelay& relay) {
    protocol::agui::RunEnd end{protocol::agui::RunEnd::Kind::interrupted};
    end.interrupts.push_back({"i", "Delete?", {R"({"type":"boolean"})"}});
    end.interrupts.push_back({"j", "Pay?", {R"({"type":"object","title":"Payment"})"}});
    end.interrupts.back().about.text = R"({"sum":900})";
    end.interrupts.back().url.text = R"("https://bank.example/login")";
    relay.finish(end);
  });
  const auto* asked = sink->outcome_as<agents::Asked>();
  REQUIRE(asked != nullptr);
  CHECK(task::text_of(asked->message) == "Delete?\nPay?\nsum: 900\nhttps://bank.example/login");
  CHECK(asked->message.parts[1].content == R"({"about":{"sum":900}})");
  CHECK(asked->message.parts.back().content ==
        R"({"schema":{"type":"object","properties":{"i":{"title":"Delete?","type":"boolean"},)"
        R"("j":{"type":"object","title":"Payment"}},"required":["i","j"]}})");
}

TEST_CASE("RunRelay: questions that are asked at once keep the references in their schemas") {
  const char kTree[] = R"({"$ref":"#/$defs/A","$defs":{"A":{"properties":{
    "n":{"type":"integer"},"next":{"$ref":"#/$defs/A"},"whole":{"$ref":"#"}}}}})";
  const auto sink = relayed(1'000, [&](RunRelay& relay) {
    protocol::agui::RunEnd end{protocol::agui::RunEnd::Kind::interrupted};
    end.interrupts.push_back({"i", "Delete?", {R"({"type":"boolean"})"}});
    end.interrupts.push_back({"j", "Which?", {kTree}});
    relay.finish(end);
  });
  const auto* asked = sink->outcome_as<agents::Asked>();
  REQUIRE(asked != nullptr);
  CHECK_FALSE(agents::check_schema(asked->message, {}).fault);
  const auto fits = [&](const std::string& json) {
    task::Message answer;
    answer.parts.push_back(task::Part::of_data({json}));
    return agents::fit_answer(asked->message, {}, false, answer).has_value();
  };
  CHECK(fits(R"({"i":true,"j":{"next":{"whole":{"n":1}}}})"));
  CHECK_FALSE(fits(R"({"i":true,"j":{"next":{"whole":{"n":"x"}}}})"));
}

}  // namespace run_relay_test
