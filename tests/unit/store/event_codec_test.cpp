#include "store/event_codec.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "store/budget_codec.h"

namespace event_codec_test {

using namespace baton;
using store::codec::decode;
using store::codec::encode;
using store::codec::kind_of;
using task::EventBody;
using task::Part;
using namespace std::string_literals;

namespace {

// Encodes and decodes the event; the result must be of the same kind.
template <class Body>
Body through(const Body& body) {
  const EventBody before = body;
  auto after = decode(static_cast<int>(kind_of(before)), encode(before));
  if (!after) FAIL(after.error().for_log);
  REQUIRE(std::holds_alternative<Body>(*after));
  return std::get<Body>(std::move(*after));
}

const std::string kOddText =
    std::string("\0\x1f\x7f \"\\/ \u00e4 \u20ac \U0001F600 \u2028 </script>\r\n", 36);
const task::Json kOddJson{
    "{ \"b\" : 1.0e+02,\t\"a\":[ 1, 12345678901234567890.10 ,null ], \"a\" : \"\\u00e4\\/\" }"};

task::Message full_message() {
  task::Message message;
  message.id = {"m-1"};
  message.role = task::Role::agent;
  message.parts = {Part::of_text(kOddText),
                   Part::of_text(""),
                   Part{Part::Kind::raw, "aGVsbG8=", "a \"name\".bin", "application/octet-stream", kOddJson},
                   Part{Part::Kind::url, "https://example.org/?a=1&b=2", {}, "text/plain", {}},
                   Part::of_data(kOddJson),
                   Part::of_data({"null"}),
                   Part::of_data({"\"text\""})};
  message.metadata = kOddJson;
  message.extensions = {"https://example.org/ext", ""};
  message.reference_tasks = {{"t-1"}, {"t-2"}};
  return message;
}

}  // namespace

TEST_CASE("Budget: it is read back as stored, with its list of agents") {
  task::Budget budget;
  CHECK(store::codec::decode_budget(store::codec::encode_budget(budget)) == budget);
  budget.tokens = 3;
  budget.until = base::from_ms(5);
  budget.agents = {"desk", "a \"quoted\" one"};
  CHECK(store::codec::decode_budget(store::codec::encode_budget(budget)) == budget);
  budget.agents->clear();
  CHECK(store::codec::decode_budget(store::codec::encode_budget(budget)) == budget);
}

TEST_CASE("Event codec: a status is read back unchanged") {
  task::StatusChanged event;
  event.status.state = task::State::input_required;
  event.status.message = full_message();
  event.status.at = base::from_ms(1'700'000'000'123);
  event.metadata = kOddJson;
  const task::StatusChanged after = through(event);
  CHECK(after.status.state == event.status.state);
  CHECK(after.status.at == event.status.at);
  CHECK(after.status.message == event.status.message);
  CHECK(after.metadata == event.metadata);
  CHECK(after.ask.empty());
}

TEST_CASE("Event codec: a question's id is read back, and needs no bytes if there is none") {
  const task::StatusChanged asking{{task::State::input_required, std::nullopt, {}}, {}, kOddText};
  CHECK(through(asking).ask == kOddText);
  CHECK(encode(task::StatusChanged{{task::State::working, std::nullopt, base::from_ms(7)}, {}}) ==
        R"({"s":"working","at":7})");
}

TEST_CASE("Event codec: every state is read back") {
  for (int i = 0; i <= static_cast<int>(task::State::rejected); ++i) {
    const auto state = static_cast<task::State>(i);
    const task::StatusChanged after =
        through(task::StatusChanged{{state, std::nullopt, base::from_ms(i)}, {}});
    CHECK(after.status.state == state);
    CHECK_FALSE(after.status.message.has_value());
    CHECK(after.metadata.empty());
  }
}

TEST_CASE("Event codec: a message is read back unchanged") {
  CHECK(through(task::MessageAdded{full_message()}).message == full_message());
  task::Message bare;
  CHECK(through(task::MessageAdded{bare}).message == bare);
  task::Message empty_text;
  empty_text.parts.push_back(Part::of_text(""));
  CHECK(through(task::MessageAdded{empty_text}).message == empty_text);
}

TEST_CASE("Event codec: a piece of text is read back unchanged") {
  for (const bool flag : {false, true}) {
    const task::TextDelta after = through(task::TextDelta{{"r\"1"}, 7, kOddText, flag, !flag});
    CHECK(after.reply.value == "r\"1");
    CHECK(after.ordinal == 7);
    CHECK(after.text == kOddText);
    CHECK(after.first == flag);
    CHECK(after.last == !flag);
  }
  CHECK(through(task::TextDelta{{"r"}, 0, "", false, true}).text.empty());
}

TEST_CASE("Event codec: a piece of text costs little more than the text") {
  CHECK(encode(task::TextDelta{{"r1"}, 0, "hello", false, false}) == R"({"i":"r1","o":0,"t":"hello"})");
}

TEST_CASE("Event codec: an artifact chunk is read back unchanged") {
  task::ArtifactChunk event;
  event.artifact = {{"a-1"}, 3, "name", "description", full_message().parts, kOddJson, {"x"}};
  event.append = true;
  task::ArtifactChunk after = through(event);
  CHECK(after.artifact == event.artifact);
  CHECK(after.append);
  CHECK_FALSE(after.last_chunk);
  event.artifact = {};
  event.append = false;
  event.last_chunk = true;
  after = through(event);
  CHECK(after.artifact == event.artifact);
  CHECK_FALSE(after.append);
  CHECK(after.last_chunk);
}

TEST_CASE("Event codec: tool calls and results are read back unchanged") {
  const task::ToolCall call = through(task::ToolCall{"c1", "get_weather", kOddJson, true});
  CHECK(call.id == "c1");
  CHECK(call.name == "get_weather");
  CHECK(call.arguments == kOddJson);
  CHECK(call.by_client);
  CHECK(through(task::ToolCall{"c1", "f", {}, false}).arguments.empty());
  CHECK_FALSE(through(task::ToolCall{"c1", "f", {"null"}, false}).by_client);
  CHECK(through(task::ToolCall{"c1", "f", {"null"}, false}).arguments.text == "null");
  const task::ToolResult result = through(task::ToolResult{"c1", kOddJson, kOddText});
  CHECK(result.id == "c1");
  CHECK(result.content == kOddJson);
  CHECK(result.error == kOddText);
}

TEST_CASE("Event codec: state, steps, withdrawals and custom events are read back unchanged") {
  CHECK(through(task::StateSnapshot{kOddJson}).snapshot == kOddJson);
  CHECK(through(task::StateDelta{{"[ ]"}}).patch.text == "[ ]");
  CHECK(through(task::Step{"one", task::Step::Phase::start}).phase == task::Step::Phase::start);
  CHECK(through(task::Step{"one", task::Step::Phase::finish}).phase == task::Step::Phase::finish);
  CHECK(through(task::Step{kOddText, task::Step::Phase::start}).name == kOddText);
  CHECK(through(task::Withdrawn{{{"a"}, {"b"}}}).artifacts == std::vector<task::ArtifactId>{{"a"}, {"b"}});
  CHECK(through(task::Withdrawn{}).artifacts.empty());
  const task::Custom custom = through(task::Custom{"name", {"1"}});
  CHECK(custom.name == "name");
  CHECK(custom.value.text == "1");
}

TEST_CASE("Event codec: a piece of reasoning is read back unchanged") {
  for (const bool flag : {false, true}) {
    const task::ReasoningDelta after = through(task::ReasoningDelta{{"s\"1"}, kOddText, flag, !flag});
    CHECK(after.span.value == "s\"1");
    CHECK(after.text == kOddText);
    CHECK(after.first == flag);
    CHECK(after.last == !flag);
  }
  CHECK(encode(task::ReasoningDelta{{"s"}, "hm", false, false}) == R"({"i":"s","t":"hm"})");
}

TEST_CASE("Event codec: an activity is read back with its content or with its patch") {
  const task::Activity whole = through(task::Activity{"a1", "PLAN", kOddJson, {}});
  CHECK(whole.id == "a1");
  CHECK(whole.type == "PLAN");
  CHECK(whole.content == kOddJson);
  CHECK(whole.patch.empty());
  const task::Activity changed = through(task::Activity{"a1", "PLAN", {}, {"[ ]"}});
  CHECK(changed.content.empty());
  CHECK(changed.patch.text == "[ ]");
}

TEST_CASE("Event codec: each phase of a subagent is read back") {
  using Phase = task::Subagent::Phase;
  for (const Phase phase :
       {Phase::started, Phase::finished, Phase::failed, Phase::asks, Phase::answered, Phase::passed}) {
    const task::Subagent after =
        through(task::Subagent{"t-1", kOddText, phase, {}, kOddText, {7}, {9}, true, true});
    CHECK(after.id == "t-1");
    CHECK(after.name == kOddText);
    CHECK(after.phase == phase);
    CHECK(after.error.empty());
    CHECK(after.call == kOddText);
    CHECK(after.task.value == 7);
    CHECK(after.after.value == 9);
    CHECK(after.asks_agent);
    CHECK(after.is_detached);
  }
  CHECK(through(task::Subagent{"t-1", "n", Phase::failed, kOddText}).error == kOddText);
}

TEST_CASE("Event codec: the owner of a question and the mark of an answer to a child are read back") {
  task::StatusChanged asks;
  asks.status.asked_by = {{{"helper"}, {"k1"}, "k1.7"}, {{kOddText}, {kOddText}, kOddText}};
  CHECK(through(asks).status.asked_by == asks.status.asked_by);
  CHECK(through(task::StatusChanged{}).status.asked_by.empty());
  task::MessageAdded answer;
  answer.message.id = {"m"};
  answer.message.parts.push_back(task::Part::of_text("so"));
  CHECK_FALSE(through(answer).for_child);
  answer.for_child = true;
  CHECK(through(answer).for_child);
}

TEST_CASE("Event codec: usage is read back byte for byte") {
  CHECK(through(task::Usage{kOddJson}).used == kOddJson);
  CHECK(through(task::ExecutorState{kOddJson}).state == kOddJson);
  CHECK(through(task::ExecutorState{{}, {}, {}, "a\nb"}).errors == "a\nb");
}

TEST_CASE("Event codec: the stored numbers of kinds never change") {
  using store::codec::Kind;
  CHECK(kind_of(task::Custom{}) == Kind::custom);
  CHECK(kind_of(task::ReasoningDelta{}) == Kind::reasoning);
  CHECK(kind_of(task::Activity{}) == Kind::activity);
  CHECK(kind_of(task::Subagent{}) == Kind::subagent);
  CHECK(kind_of(task::Usage{}) == Kind::usage);
  CHECK(kind_of(task::ExecutorState{}) == Kind::executor_state);
  CHECK(static_cast<int>(Kind::custom) == 11);
  CHECK(static_cast<int>(Kind::reasoning) == 12);
  CHECK(static_cast<int>(Kind::activity) == 13);
  CHECK(static_cast<int>(Kind::subagent) == 14);
  CHECK(static_cast<int>(Kind::usage) == 15);
}

TEST_CASE("Event codec: metadata with the deepest allowed nesting is read back") {
  std::string deep = "1";
  for (int i = 0; i < 98; ++i) deep = "[" + deep + "]";
  const task::StatusChanged event{{task::State::working, std::nullopt, {}}, {"{\"x\":" + deep + "}"}};
  CHECK(through(event).metadata == event.metadata);
}

TEST_CASE("Event codec: data that is not a stored event is an error") {
  const std::vector<std::pair<int, std::string>> wrong{{1, R"({"s":"asleep","at":1})"},
                                                       {1, R"({"s":"working"})"},
                                                       {1, R"({"s":"working","at":1,"m":{}})"},
                                                       {2, R"({"m":{"parts":[{}]}})"},
                                                       {2, R"({"m":{"parts":[]}})"},
                                                       {2, R"({"m":7})"},
                                                       {3, R"({"i":1,"o":0,"t":"x"})"},
                                                       {3, R"({"i":"r","o":-1,"t":"x"})"},
                                                       {3, R"({"i":"r","o":1.5,"t":"x"})"},
                                                       {3, R"({"i":"r","o":99999999999,"t":"x"})"},
                                                       {3, "{\"i\":\"\xff\",\"o\":0,\"t\":\"\"}"},
                                                       {4, R"({"o":0,"a":[]})"},
                                                       {4, R"({"a":{"parts":[]}})"},
                                                       {5, R"({"i":"c"})"},
                                                       {6, R"({"r":1})"},
                                                       {9, R"({"n":1})"},
                                                       {10, R"({"a":[1]})"},
                                                       {10, R"({"a":{}})"},
                                                       {11, R"({"v":1})"},
                                                       {12, R"({"i":"r"})"},
                                                       {12, R"({"t":"x"})"},
                                                       {13, R"({"i":"a","v":{}})"},
                                                       {13, R"({"n":"PLAN","v":{}})"},
                                                       {14, R"({"i":"t-1"})"}};
  for (const auto& [kind, body] : wrong) {
    CAPTURE(body);
    const auto result = decode(kind, body);
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().code == base::ErrorCode::internal);
  }
  for (int kind = 1; kind <= 17; ++kind) {
    for (const char* body : {"", "x", "[]", "null", "{", "{}{}"}) CHECK_FALSE(decode(kind, body).has_value());
  }
  for (const int kind : {-1, 0, 18, 1000}) CHECK_FALSE(decode(kind, "{}").has_value());
}

TEST_CASE("Event codec: an operator's intervention is read back unchanged") {
  const task::Intervention after = through(task::Intervention{"olga", "retry", kOddText, "17"});
  CHECK(after.actor == "olga");
  CHECK(after.action == "retry");
  CHECK(after.reason == kOddText);
  CHECK(after.detail == "17");
  CHECK(kind_of(task::Intervention{}) == store::codec::Kind::intervention);
}

TEST_CASE("Event codec: every shortened body is an error or a value, never a crash") {
  const std::string body = encode(task::MessageAdded{full_message()});
  for (std::size_t size = 0; size < body.size(); ++size)
    CHECK_FALSE(decode(2, body.substr(0, size)).has_value());
}

TEST_CASE("Event codec: lists of strings are read back") {
  const std::vector<std::string> strings{"", kOddText, "x"};
  CHECK(store::codec::decode_strings(store::codec::encode_strings(strings)).value() == strings);
  CHECK(store::codec::decode_strings("[]").value().empty());
  for (const char* wrong : {"", "{}", "[1]", "[\"a\""})
    CHECK_FALSE(store::codec::decode_strings(wrong).has_value());
}

}  // namespace event_codec_test
