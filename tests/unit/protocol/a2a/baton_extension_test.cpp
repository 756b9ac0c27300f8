#include "protocol/a2a/baton_extension.h"

#include <doctest/doctest.h>

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

TEST_CASE("Baton's extension: a request asks for every number and for a place to start") {
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

TEST_CASE("Baton's extension: what a request says to Baton is not the task's") {
  CHECK(others_in(R"({ "a" : 1 })") == R"({ "a" : 1 })");
  CHECK(others_in("null").empty());
  CHECK(others_in(kOn).empty());
  CHECK(others_in(R"({"a":[1, 2],"urn:baton:a2a:1":{},"b":"x"})") == R"({"a":[1, 2],"b":"x"})");
}

TEST_CASE("Baton's extension: a shown event says what it covers, whatever the agent wrote there") {
  CHECK(protocol::with_from({}, {7}).text == R"({"urn:baton:a2a:1":{"from":7}})");
  CHECK(protocol::with_from({R"({"a":{"b":1}})"}, {7}).text ==
        R"({"a":{"b":1},"urn:baton:a2a:1":{"from":7}})");
  CHECK(protocol::with_from({R"({"urn:baton:a2a:1":{"from":1},"a":2})"}, {7}).text ==
        R"({"a":2,"urn:baton:a2a:1":{"from":7}})");
}

}  // namespace baton_extension_test
