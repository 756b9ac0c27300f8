#include "protocol/a2a/baton_extension.h"

#include <doctest/doctest.h>

#include "protocol/a2a/v1_objects.h"

namespace baton_extension_test {

using namespace baton;

namespace {

constexpr const char* kOn = R"({"urn:baton:a2a:1":{"eventNumbers":true,"startAt":5}})";

base::Result<protocol::NumbersWish> wish_in(const std::string& metadata) {
  const auto document = json::Document::parse_view(metadata);
  REQUIRE(document);
  return protocol::read_numbers_wish(document->root(), "metadata");
}

std::string others_in(const std::string& metadata) {
  const auto document = json::Document::parse_view(metadata);
  REQUIRE(document);
  return protocol::without_extension(document->root()).text;
}

}  // namespace

TEST_CASE("Baton's extension: a request may ask for every number and for a starting point") {
  const auto on = wish_in(kOn);
  REQUIRE(on);
  CHECK(on->every);
  CHECK(on->start_at == task::EventNumber{5});
  CHECK(on->given);
  for (const char* nothing : {"{}", "null", R"({"a":1})", R"({"urn:baton:a2a:1":null})"}) {
    CAPTURE(nothing);
    const auto off = wish_in(nothing);
    REQUIRE(off);
    CHECK_FALSE(off->every);
    CHECK_FALSE(off->start_at);
    CHECK_FALSE(off->given);
  }
  for (const char* empty :
       {R"({"urn:baton:a2a:1":{}})", R"({"urn:baton:a2a:1":{"eventNumbers":false,"later":[1]}})"}) {
    CAPTURE(empty);
    const auto given = wish_in(empty);
    REQUIRE(given);
    CHECK_FALSE(given->every);
    CHECK(given->given);
  }
  CHECK(wish_in(R"({"urn:baton:a2a:1":{"startAt":1}})")->given);
  CHECK(wish_in(R"({"lastEventId":0})")->given);
}

TEST_CASE("Baton's extension: a member of the wrong type is refused by its name") {
  const auto refusal = [](const std::string& member) {
    const auto wish = wish_in("{\"urn:baton:a2a:1\":" + member + "}");
    REQUIRE_FALSE(wish);
    CHECK(wish.error().code == base::ErrorCode::invalid_argument);
    return wish.error().for_caller;
  };
  CHECK(refusal("true") == R"(metadata["urn:baton:a2a:1"]: must be an object)");
  CHECK(refusal(R"({"eventNumbers":1})") ==
        R"(metadata["urn:baton:a2a:1"].eventNumbers: must be true or false)");
  for (const char* start : {"0", "-1", "1.5", "\"1\"", "1e30"}) {
    CHECK(refusal("{\"startAt\":" + std::string(start) + "}") ==
          R"(metadata["urn:baton:a2a:1"].startAt: must be a whole number from 1)");
  }
}

TEST_CASE("Baton's extension: members for Baton are removed from the task's metadata") {
  CHECK(others_in(R"({ "a" : 1 })") == R"({ "a" : 1 })");
  CHECK(others_in("null").empty());
  CHECK(others_in(kOn).empty());
  CHECK(others_in(R"({"a":[1, 2],"urn:baton:a2a:1":{},"b":"x"})") == R"({"a":[1, 2],"b":"x"})");
}

TEST_CASE("Baton's extension: a shown event has the events it covers, overriding the agent's value") {
  CHECK(protocol::with_from({}, {7}).text == R"({"urn:baton:a2a:1":{"from":7}})");
  CHECK(protocol::with_from({R"({"a":{"b":1}})"}, {7}).text ==
        R"({"a":{"b":1},"urn:baton:a2a:1":{"from":7}})");
  CHECK(protocol::with_from({R"({"urn:baton:a2a:1":{"from":1},"a":2})"}, {7}).text ==
        R"({"a":2,"urn:baton:a2a:1":{"from":7}})");
}

TEST_CASE("Baton's extension: written hops are read back, and only short texts are accepted") {
  const task::Json marked = protocol::with_hops({R"({"a":1})"}, {"n/echo", "m/desk"});
  const auto document = json::Document::parse_view(marked.text);
  REQUIRE(document);
  CHECK(protocol::read_hops(document->root(), "metadata") == std::vector<std::string>{"n/echo", "m/desk"});
  CHECK(others_in(marked.text) == R"({"a":1})");
  const auto none = json::Document::parse_view("{}");
  CHECK(protocol::read_hops(none->root(), "metadata")->empty());
  const std::string long_hop(301, 'x');
  for (const std::string& wrong :
       {std::string("7"), std::string("[7]"), std::string(R"([""])"), "[\"" + long_hop + "\"]"}) {
    const std::string text = R"({"urn:baton:a2a:1":{"hops":)" + wrong + "}}";
    const auto bad = json::Document::parse_view(text);
    REQUIRE(bad);
    CAPTURE(wrong);
    CHECK(protocol::read_hops(bad->root(), "metadata").error().code == base::ErrorCode::invalid_argument);
  }
}

TEST_CASE("Baton's extension: a request may name the question that it answers") {
  const auto read = [](const char* text) {
    const auto document = json::Document::parse_view(text);
    REQUIRE(document);
    return protocol::read_ask(document->root(), "metadata");
  };
  CHECK(read(R"({"urn:baton:a2a:1":{"ask":"k1.7"}})") == std::string("k1.7"));
  CHECK(read(R"({"urn:baton:a2a:1":{}})")->empty());
  CHECK(read("{}")->empty());
  CHECK(read(R"({"urn:baton:a2a:1":{"ask":7}})").error().code == base::ErrorCode::invalid_argument);
}

TEST_CASE("Baton's extension: a child's question has its owner, overriding the agent's value") {
  task::Status status;
  status.state = task::State::input_required;
  status.message.emplace();
  status.message->metadata.text = R"({"a":1,"urn:baton:a2a:1":{"askedBy":"me"}})";
  CHECK(protocol::v1::status_message(status).metadata == status.message->metadata);
  status.asked_by = {{{"helper"}, {"k1"}, "k1.7"}, {{"other"}, {"k2"}, "k2.3"}};
  CHECK(protocol::v1::status_message(status).metadata.text ==
        R"({"a":1,"urn:baton:a2a:1":{"ask":"k1.7","askedBy":[{"agent":"helper","task":"k1"},)"
        R"({"agent":"other","task":"k2"}]}})");
}

TEST_CASE("Baton's extension: startAt is a number in a subscription and a time in a send") {
  const auto start_in = [](const std::string& metadata) {
    const auto document = json::Document::parse_view(metadata);
    REQUIRE(document);
    return protocol::read_start_time(document->root(), "metadata");
  };
  const auto time = start_in(R"({"urn:baton:a2a:1":{"startAt":"2027-01-15T09:00:00+01:00"}})");
  REQUIRE(time);
  CHECK(*time == base::from_ms(1'800'000'000'000));
  for (const char* nothing :
       {"{}", "null", R"({"urn:baton:a2a:1":{}})", R"({"urn:baton:a2a:1":{"startAt":5}})"}) {
    CAPTURE(nothing);
    const auto none = start_in(nothing);
    REQUIRE(none);
    CHECK_FALSE(none->has_value());
  }
  for (const char* wrong : {R"("tomorrow")", R"("")", "true", "[]", "1.5", R"("2027-02-30T00:00:00Z")"}) {
    CAPTURE(wrong);
    const auto refused = start_in(R"({"urn:baton:a2a:1":{"startAt":)" + std::string(wrong) + "}}");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().for_caller ==
          R"(metadata["urn:baton:a2a:1"].startAt: must be a time such as "2027-01-31T08:00:00+01:00")");
  }
  const std::string with_time =
      R"({"urn:baton:a2a:1":{"startAt":"2027-01-15T09:00:00Z","eventNumbers":true}})";
  CHECK_FALSE(wish_in(with_time));
  const auto document = json::Document::parse_view(with_time);
  const auto numbers = protocol::read_send_numbers(document->root(), "metadata");
  REQUIRE(numbers);
  CHECK(numbers->every);
  CHECK_FALSE(numbers->start_at);
}

namespace {

base::Result<std::shared_ptr<const task::Budget>> budget_in(const std::string& budget) {
  const auto document = json::Document::parse(R"({"urn:baton:a2a:1":{"budget":)" + budget + "}}");
  REQUIRE(document);
  return protocol::read_budget(document->root(), "metadata");
}

}  // namespace

TEST_CASE("Baton's extension: a budget has the given limits, and a wrong value is refused by name") {
  const auto budget =
      budget_in(R"({"max_tokens":5,"max_children":0,"max_depth":2,"max_rounds":3,"max_wall_s":60})");
  REQUIRE(budget);
  REQUIRE(*budget);
  CHECK((*budget)->tokens == 5);
  CHECK((*budget)->children == 0);
  CHECK((*budget)->depth == 2);
  CHECK((*budget)->rounds == 3);
  CHECK((*budget)->wall == std::chrono::seconds(60));
  for (const char* nothing : {"{}", "null"}) CHECK(*budget_in(nothing) == nullptr);
  for (const char* wrong : {"-1", "1.5", "\"1\"", "null", "true", "9007199254740992", "1e300"}) {
    CAPTURE(wrong);
    const auto refused = budget_in(R"({"max_tokens":)" + std::string(wrong) + "}");
    REQUIRE_FALSE(refused);
    CHECK(
        refused.error().for_caller ==
        R"(metadata["urn:baton:a2a:1"].budget.max_tokens: must be a whole number from 0 to 9007199254740991)");
  }
  CHECK_FALSE(budget_in(R"({"max_wall_s":1000000001})"));
  CHECK_FALSE(budget_in(R"({"max_fun":1})"));
  const auto unknown = budget_in("{\"" + std::string(20'000, 'x') + "\":1}");
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().for_caller.size() < 300);
  CHECK_FALSE(budget_in("[]"));
}

TEST_CASE("Baton's extension: a budget for another server is in whole seconds, rounded up, beside the hops") {
  task::Budget budget;
  budget.tokens = 7;
  budget.wall = base::Duration(1'001);
  budget.until = base::from_ms(5);
  CHECK(protocol::with_hops({}, {"a/b"}, budget).text ==
        R"({"urn:baton:a2a:1":{"hops":["a/b"],"budget":{"max_tokens":7,"max_wall_s":2}}})");
  CHECK(protocol::with_hops({}, {"a/b"}).text == R"({"urn:baton:a2a:1":{"hops":["a/b"]}})");
}

TEST_CASE("Baton's extension: usage is added to existing metadata, and read within bounds") {
  task::Status status;
  CHECK(protocol::with_usage({R"({"a":1})"}, status).text == R"({"a":1})");
  status.taken = {7, 2};
  const task::Json shown =
      protocol::with_usage({R"({"a":1,"urn:baton:a2a:1":{"from":3,"usage":9}})"}, status);
  CHECK(shown.text == R"({"a":1,"urn:baton:a2a:1":{"from":3,"usage":{"tokens":7,"children":2}}})");
  CHECK(protocol::read_usage(shown).tokens == 7);
  CHECK(protocol::read_usage(shown).children == 2);
  const task::Taken wild =
      protocol::read_usage({R"({"urn:baton:a2a:1":{"usage":{"tokens":-5,"children":9223372036854775807}}})"});
  CHECK(wild.tokens == 0);
  CHECK(wild.children == task::kReportMax);
  for (const char* nothing : {"", "{}", R"({"urn:baton:a2a:1":{"usage":[1]}})"})
    CHECK(protocol::read_usage({nothing}).tokens == 0);
}

}  // namespace baton_extension_test
