#include "cli/card_check.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace baton::cli::card_check_test {
namespace {

constexpr std::string_view kGood = R"({"name":"Echo","url":"http://127.0.0.1:8080/","version":"1.0.0",
  "description":"says it again","capabilities":{"streaming":true,"pushNotifications":false},
  "provider":{"organization":"Us"},"authentication":{"schemes":["bearer"]},"defaultInputModes":["text"],
  "skills":[{"id":"echo","name":"Echo","tags":["demo"],"description":"back"}]})";

std::vector<std::string> problems_of(std::string_view card) {
  const auto document = json::Document::parse_view(card);
  REQUIRE(document.has_value());
  return check_card(document->root());
}

TEST_CASE("Card: a valid card has no problems, and its content is shown") {
  CHECK(problems_of(kGood).empty());
  const auto document = json::Document::parse_view(kGood);
  const std::string shown = show_card(document->root());
  CHECK(shown.find("name           Echo\n") != std::string::npos);
  CHECK(shown.find("interface      A2A 0.1 JSONRPC http://127.0.0.1:8080/\n") != std::string::npos);
  CHECK(shown.find("capabilities   streaming\n") != std::string::npos);
  CHECK(shown.find("skill echo     Echo: back\n") != std::string::npos);
  CHECK(shown.find("authentication bearer\n") != std::string::npos);
}

TEST_CASE("Card: the requirements of the newest version that it declares are checked") {
  const auto problems = problems_of("{}");
  CHECK(problems == std::vector<std::string>{"/name: is missing", "/url: is missing", "/version: is missing",
                                             "/capabilities: is missing", "/skills: is missing"});
  CHECK(
      problems_of(R"({"name":"a","url":"http://a/","version":"1","capabilities":{},"protocolVersion":"0.2.5",
      "description":"","defaultInputModes":[],"defaultOutputModes":[],"skills":[{"id":"s","name":"S",
      "description":"d"}]})") == std::vector<std::string>{"/skills/0/tags: is missing: required since 0.2"});
  CHECK(problems_of("[]") == std::vector<std::string>{"the card: must be an object"});
}

TEST_CASE("Card: an agent's card.json is checked as serve checks it") {
  CHECK(problems_of(R"({"name":"A","description":"","version":"1","defaultInputModes":["a"],
      "defaultOutputModes":["a"],"skills":[{"id":"s","name":"S","description":"","tags":[]}],
      "baton":{"executor":"command","mod":"turn"}})") ==
        std::vector<std::string>{"/baton/mod: is unknown; did you mean \"mode\"?"});
}

TEST_CASE("Card: problems are reported with their place") {
  const auto problems =
      problems_of(R"({"name":"","url":"/relative","version":1,"capabilities":{"streaming":"yes"},
      "provider":{},"authentication":{"schemes":"bearer"},"defaultInputModes":[1],
      "skills":[{"id":"a"},5,{"id":"b","name":"B","tags":"x"}]})");
  for (const char* expected :
       {"/name: is empty", "/url: must be an absolute http or https URL", "/version: must be a string",
        "/capabilities/streaming: must be true or false", "/provider/organization: is missing",
        "/authentication/schemes: must be a list", "/defaultInputModes/0: must be a string",
        "/skills/0/name: is missing", "/skills/1: must be an object", "/skills/2/tags: must be a list"}) {
    CAPTURE(expected);
    CHECK(std::ranges::find(problems, expected) != problems.end());
  }
  CHECK(problems.size() == 10);
}

TEST_CASE("Card: a card's text cannot control the terminal") {
  const auto document = json::Document::parse_view(
      R"({"name":"\u001b[2Jx","skills":[{"id":"\u001b[2J","name":"a\nb","description":"\u009b"}]})");
  REQUIRE(document.has_value());
  const std::string shown = show_card(document->root());
  CHECK(shown.find('\x1b') == std::string::npos);
  CHECK(shown.find("\xC2\x9B") == std::string::npos);
  CHECK(std::ranges::count(shown, '\n') == 3);  // name, capabilities, one skill
}

}  // namespace
}  // namespace baton::cli::card_check_test
