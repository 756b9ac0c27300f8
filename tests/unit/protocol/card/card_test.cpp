#include "protocol/card/card.h"

#include <doctest/doctest.h>

namespace card_test {

using namespace baton;

namespace {

constexpr const char* kCard = R"({
  "name": "Probe", "description": "Tries", "version": "1.2.3",
  "url": "http://ignored/", "capabilities": {"streaming": true},
  "provider": {"organization": "Us", "url": "https://example.org/"},
  "documentationUrl": "https://example.org/doc", "iconUrl": "https://example.org/icon",
  "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain", "application/json"],
  "securitySchemes": {"b": {"type": "http", "scheme": "bearer"}},
  "skills": [{"id": "s", "name": "Skill", "description": "Does", "tags": ["t"], "examples": ["e"],
              "inputModes": ["text/csv"]}],
  "baton": {"executor": "command", "command": ["true"]}
})";

}  // namespace

TEST_CASE("Card: all members are read, those that Baton fills in are left out, and others are kept") {
  REQUIRE(protocol::check_card(kCard).empty());
  const auto document = json::Document::parse(kCard);
  REQUIRE(document.has_value());
  const task::AgentCard card = protocol::read_card(document->root());
  CHECK(card.name == "Probe");
  CHECK(card.description == "Tries");
  CHECK(card.version == "1.2.3");
  CHECK(card.provider == task::Provider{"Us", "https://example.org/"});
  CHECK(card.documentation_url == "https://example.org/doc");
  CHECK(card.icon_url == "https://example.org/icon");
  CHECK(card.default_output_modes == std::vector<std::string>{"text/plain", "application/json"});
  REQUIRE(card.skills.size() == 1);
  CHECK(card.skills[0] == task::Skill{"s", "Skill", "Does", {"t"}, {"e"}, {"text/csv"}, {}, {}});
}

TEST_CASE("Card: capabilities, security and the extended card are read in every form") {
  constexpr const char* kText = R"({
    "name": "Probe", "description": "", "version": "1", "defaultInputModes": ["a"], "defaultOutputModes": ["a"],
    "capabilities": {"streaming": false, "extensions": [
      {"uri": "https://ext/", "description": "d", "required": true, "params": {"a": 1}}]},
    "securitySchemes": {"old": {"type": "http", "scheme": "basic"},
                        "new": {"httpAuthSecurityScheme": {"scheme": "bearer", "bearerFormat": "JWT"}}},
    "securityRequirements": [{"schemes": {"new": {"list": ["read"]}}}, {"schemes": {"old": {}}}],
    "skills": [{"id": "s", "name": "S", "description": "", "tags": [], "security": [{"old": []}]}],
    "baton": {"executor": "command", "command": ["true"],
              "extended": {"description": "More", "skills": [
                {"id": "t", "name": "T", "description": "", "tags": []}]}}})";
  CHECK(protocol::check_card(kText) == std::vector<json::SchemaProblem>{});
  const auto document = json::Document::parse(kText);
  const task::AgentCard card = protocol::read_card(document->root());
  CHECK(!card.streaming);
  CHECK(card.push);
  CHECK(card.extensions == std::vector<task::Extension>{{"https://ext/", "d", true, {R"({"a": 1})"}}});
  REQUIRE(card.security_schemes.size() == 2);
  CHECK(card.security_schemes[0].name == "old");
  CHECK(card.security_schemes[0].scheme == "basic");
  CHECK(card.security_schemes[1].bearer_format == "JWT");
  CHECK(card.security == std::vector<task::SecurityRequirement>{{{"new", {"read"}}}, {{"old", {}}}});
  CHECK(card.skills[0].security == std::vector<task::SecurityRequirement>{{{"old", {}}}});
  REQUIRE(card.extended.has_value());
  CHECK(card.extended->description == "More");
  CHECK(card.extended->skills.size() == 1);
}

TEST_CASE("Card: rules for security beyond the schema are checked too") {
  const auto problems = protocol::check_card(R"({"name":"P","description":"","version":"1","skills":[
    {"id":"s","name":"S","description":"","tags":[]}],"defaultInputModes":["a"],"defaultOutputModes":["a"],
    "securitySchemes":{"a":{}},"security":[{"b":[]}],"baton":{"executor":"builtin","extended":{"skill":[]}}})");
  CHECK(problems ==
        std::vector<json::SchemaProblem>{{"/baton/extended/skill", "is unknown; did you mean \"skills\"?"}});
  const auto security = protocol::check_card(R"({"name":"P","description":"","version":"1","skills":[
    {"id":"s","name":"S","description":"","tags":[]}],"defaultInputModes":["a"],"defaultOutputModes":["a"],
    "securitySchemes":{"a":{"type":"http"}},"security":[{"b":[]}],"baton":{"executor":"builtin"}})");
  CHECK(security ==
        std::vector<json::SchemaProblem>{{"/securitySchemes/a", "\"scheme\" is missing"},
                                         {"/security/0/b", "securitySchemes has no scheme with this name"}});
}

TEST_CASE("Card: wrong members are reported with their pointer") {
  const auto problems =
      protocol::check_card(R"({"name":"","description":"","version":"1","skills":[{"id":"s"}],
    "defaultInputModes":["a"],"defaultOutputModes":["a"],"baton":{"executor":"a3a","comand":["x"]}})");
  const std::vector<json::SchemaProblem> expected = {
      {"/name", "must not be empty"},
      {"/skills/0", "\"name\" is missing"},
      {"/skills/0", "\"description\" is missing"},
      {"/skills/0", "\"tags\" is missing"},
      {"/baton/executor",
       "must be one of \"command\", \"builtin\", \"a2a\", \"ag-ui\", \"openai\", \"workflow\""},
      {"/baton/comand", "is unknown; did you mean \"command\"?"},
  };
  CHECK(problems == expected);
}

TEST_CASE("Card: a plan compares with numbers and with texts, which may have pointers") {
  const auto problems_with = [](const std::string& condition) {
    std::string card = kCard;
    const std::string_view agent = R"({"executor": "command", "command": ["true"]})";
    card.replace(card.find(agent), agent.size(),
                 R"({"executor": "workflow", "plan": {"route": [{"when": )" + condition +
                     R"(, "then": {"agent": "echo"}}]}})");
    return protocol::check_card(card);
  };
  CHECK(problems_with(R"({"value": "/message/data/n", "greater": 3})").empty());
  CHECK(problems_with(R"({"value": "/message/data/n", "greater": "{{/message/data/most}}"})").empty());
  CHECK(problems_with(R"({"value": "/message/data/n", "less": "{{/message/data/most}}"})").empty());
  CHECK_FALSE(problems_with(R"({"value": "/message/data/n", "less": true})").empty());
}

TEST_CASE("Card: only a remote A2A agent's card may leave out members that the remote card has") {
  CHECK(protocol::check_card(R"({"name":"P","baton":{"executor":"a2a","url":"u"}})").empty());
  for (const char* executor : {"command", "builtin", "ag-ui", "openai"}) {
    const auto problems = protocol::check_card(
        std::string(R"({"name":"P","version":"1","skills":[],"baton":{"executor":")") + executor + "\"}}");
    CHECK(problems == std::vector<json::SchemaProblem>{{"", "\"description\" is missing"},
                                                       {"", "\"defaultInputModes\" is missing"},
                                                       {"", "\"defaultOutputModes\" is missing"}});
  }
}

TEST_CASE("Card: members that no version knows are reported even if the schema allows them") {
  const auto document =
      json::Document::parse(R"({"name":"P","desciption":"","url":"u","protocolVersion":"0.3",
    "supportsAuthenticatedExtendedCard":true,"x-ours":1,"zebra":1,
    "capabilities":{"streeming":true,"extensions":[{"uri":"u","requred":true,"params":{"any":1}}]},
    "skills":[{"id":"s"},{"id":"t","tag":["a"]}],"securitySchemes":{"any":{"any":1}},"baton":{"any":1}})");
  REQUIRE(document);
  CHECK(protocol::unknown_members(document->root()) ==
        std::vector<json::SchemaProblem>{
            {"/desciption", "is unknown; did you mean \"description\"?"},
            {"/zebra", "is unknown"},
            {"/capabilities/streeming", "is unknown; did you mean \"streaming\"?"},
            {"/capabilities/extensions/0/requred", "is unknown; did you mean \"required\"?"},
            {"/skills/1/tag", "is unknown; did you mean \"tags\"?"},
        });
}

}  // namespace card_test
