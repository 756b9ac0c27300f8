#include "protocol/card/remote_card.h"

#include <doctest/doctest.h>

#include "protocol/card/remote_check.h"

namespace remote_card_test {

using namespace baton;
using protocol::Binding;
using protocol::RemoteInterface;
using task::ProtocolVersion;

namespace {

protocol::RemoteCard read(std::string_view json) {
  auto card = protocol::read_remote_card(json);
  REQUIRE(card.has_value());
  return std::move(*card);
}

std::vector<std::string> problems_of(std::string_view json) {
  const auto document = json::Document::parse_view(json);
  REQUIRE(document.has_value());
  std::vector<std::string> lines;
  for (const auto& problem : protocol::check_remote_card(document->root())) {
    lines.push_back(problem.pointer + ": " + problem.reason);
  }
  return lines;
}

constexpr std::string_view k0_1 =
    R"({"name":"A","url":"http://a/","version":"1","capabilities":{"streaming":true},
  "authentication":{"schemes":["Bearer"]},"defaultInputModes":["text"],
  "skills":[{"id":"s","name":"S","inputModes":["text","image/png"]}]})";
constexpr std::string_view k0_2 = R"({"name":"A","url":"http://a/","version":"1","capabilities":{},
  "description":"d","defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[],
  "supportsAuthenticatedExtendedCard":true})";
constexpr std::string_view k0_3 = R"({"protocolVersion":"0.3.0","name":"A","url":"http://a/v1","version":"1",
  "preferredTransport":"HTTP+JSON","additionalInterfaces":[{"url":"http://a/v1","transport":"HTTP+JSON"},
  {"url":"http://a/rpc","transport":"JSONRPC"},{"url":"a:1","transport":"GRPC"},{"url":"x","transport":"SMTP"}],
  "capabilities":{"pushNotifications":true},"description":"d","defaultInputModes":["text/plain"],
  "defaultOutputModes":["text/plain"],"skills":[]})";
constexpr std::string_view k1_0 = R"({"name":"A","version":"1","description":"d",
  "supportedInterfaces":[{"url":"a:1","protocolBinding":"GRPC","protocolVersion":"1.0"},
    {"url":"http://a/rpc3","protocolBinding":"JSONRPC","protocolVersion":"0.3"},
    {"url":"http://a/rest","protocolBinding":"HTTP+JSON","protocolVersion":"1.0","tenant":"t"},
    {"url":"http://a/rpc","protocolBinding":"jsonrpc","protocolVersion":"1.0.1"},
    {"url":"http://a/new","protocolBinding":"JSONRPC","protocolVersion":"2.0"}],
  "capabilities":{"extendedAgentCard":true},"defaultInputModes":["text/plain"],
  "defaultOutputModes":["text/plain"],"skills":[]})";

}  // namespace

TEST_CASE("Remote card: 0.1 is read, with the mode text as text/plain") {
  const auto card = read(k0_1);
  CHECK(card.streaming);
  CHECK(!card.push);
  CHECK(card.interfaces ==
        std::vector{RemoteInterface{"http://a/", Binding::json_rpc, ProtocolVersion::v0_1, {}}});
  CHECK(card.card.default_input_modes == std::vector<std::string>{"text/plain"});
  CHECK(card.card.skills[0].input_modes == std::vector<std::string>{"text/plain", "image/png"});
  CHECK(problems_of(k0_1).empty());
}

TEST_CASE("Remote card: 0.2 is recognised by its members, and an empty list of skills is valid") {
  const auto card = read(k0_2);
  CHECK(card.extended);
  CHECK(card.interfaces ==
        std::vector{RemoteInterface{"http://a/", Binding::json_rpc, ProtocolVersion::v0_2, {}}});
  CHECK(problems_of(k0_2).empty());
}

TEST_CASE("Remote card: a card that may be 0.2 or 0.1 has both, the newer one first") {
  const auto card = read(R"({"name":"A","url":"http://a/","version":"1","capabilities":{},"description":"d",
    "defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[]})");
  REQUIRE(card.interfaces.size() == 2);
  CHECK(card.interfaces[0].version == ProtocolVersion::v0_2);
  CHECK(card.interfaces[1].version == ProtocolVersion::v0_1);
}

TEST_CASE("Remote card: 0.3 has every known transport, none twice") {
  const auto card = read(k0_3);
  CHECK(card.push);
  CHECK(card.interfaces ==
        std::vector{RemoteInterface{"http://a/v1", Binding::rest, ProtocolVersion::v0_3, {}},
                    RemoteInterface{"http://a/rpc", Binding::json_rpc, ProtocolVersion::v0_3, {}},
                    RemoteInterface{"a:1", Binding::grpc, ProtocolVersion::v0_3, {}}});
  CHECK(problems_of(k0_3).empty());
}

TEST_CASE("Remote card: versions in other places and spellings, or in none, are found") {
  const auto versions = [](const std::string& members) {
    std::string all;
    for (const RemoteInterface& place : read(R"({"name":"A",)" + members + "}").interfaces)
      all += std::string(protocol::name_of(place.version)) + " " + place.url + " ";
    return all;
  };
  const std::string bare = R"("supportedInterfaces":[{"url":"http://n/","protocolBinding":"JSONRPC"}])";
  const std::vector<std::pair<std::string, std::string>> table{
      {bare, "1.0 http://n/ 0.3 http://n/ "},  // of the Python SDK's samples
      {R"("protocolVersion":"0.3.0",)" + bare, "1.0 http://n/ 0.3 http://n/ "},
      {R"("protocolVersion":"1.0","url":"http://o/")", "1.0 http://o/ 0.3 http://o/ "},
      {R"("protocolVersion":"v0.3.0","url":"http://o/")", "0.3 http://o/ "},
      {R"("protocolVersion":"0.2.9","url":"http://o/")", "0.2 http://o/ "},
      {R"("protocolVersion":"0.3.0","url":"http://o/","supportedInterfaces":[
          {"url":"http://n/","protocolBinding":"JSONRPC","protocolVersion":"9.0"}])",
       "0.3 http://o/ "},
      {R"("protocolVersion":"9.0","url":"http://o/")", ""},
  };
  for (const auto& [members, expected] : table) {
    CAPTURE(members);
    CHECK(versions(members) == expected);
  }
}

TEST_CASE("Remote card: pick chooses the newest version in the card's order, or the requested one") {
  const auto card = read(k1_0);
  CHECK(card.extended);
  REQUIRE(card.interfaces.size() == 4);
  CHECK(problems_of(k1_0).empty());
  CHECK(protocol::pick(card) == RemoteInterface{"http://a/rest", Binding::rest, ProtocolVersion::v1_0, "t"});
  CHECK(protocol::pick(card, {{}, {Binding::json_rpc}}) ==
        RemoteInterface{"http://a/rpc", Binding::json_rpc, ProtocolVersion::v1_0, {}});
  CHECK(protocol::pick(card, {{}, {Binding::grpc}})->url == "a:1");
  CHECK(protocol::pick(card, {ProtocolVersion::v0_3, {Binding::json_rpc}})->url == "http://a/rpc3");
  CHECK(!protocol::pick(card, {ProtocolVersion::v0_3, {Binding::rest}}));
  CHECK(!protocol::pick(read(k0_1), {ProtocolVersion::v1_0, {Binding::json_rpc}}));
}

TEST_CASE("Remote card: 0.1 and 0.2, which newer cards cannot declare, are available on request") {
  const auto card = read(k1_0);
  for (const auto version : {ProtocolVersion::v0_1, ProtocolVersion::v0_2}) {
    CHECK(protocol::pick(card, {version, {Binding::json_rpc, Binding::rest}}) ==
          RemoteInterface{"http://a/rpc3", Binding::json_rpc, version, {}});
    CHECK(!protocol::pick(card, {version, {Binding::rest}}));
  }
}

TEST_CASE("Remote card: an invalid card fails, and members of a wrong type count as absent") {
  CHECK(!protocol::read_remote_card(std::string_view("{")));
  CHECK(!protocol::read_remote_card(std::string_view("[1]")));
  const auto card = read(R"({"name":1,"skills":{"a":1},"supportedInterfaces":"x","url":[],"capabilities":[],
    "additionalInterfaces":{"a":{"url":"http://a/"}},"securitySchemes":[1],"security":{"a":1},"provider":"p"})");
  CHECK(card.card.name.empty());
  CHECK(card.card.skills.empty());
  CHECK(card.interfaces.empty());
  CHECK(!protocol::pick(card));
}

TEST_CASE("Remote card: the check enforces the requirements of each declared version") {
  CHECK(problems_of(R"({"supportedInterfaces":[],"name":"A","version":"1","capabilities":{},"skills":[]})") ==
        std::vector<std::string>{"/description: is missing: required since 0.2",
                                 "/defaultInputModes: is missing: required since 0.2",
                                 "/defaultOutputModes: is missing: required since 0.2",
                                 "/supportedInterfaces: is empty"});
  CHECK(
      problems_of(R"({"protocolVersion":"0.3.0","name":"A","version":"1","url":"http://a/","capabilities":{},
      "skills":[{"id":"s","name":"S","description":"d"}],"provider":{"organization":"o"}})") ==
      std::vector<std::string>{"/description: is missing: required since 0.2",
                               "/preferredTransport: is missing: required since 0.3",
                               "/defaultInputModes: is missing: required since 0.2",
                               "/defaultOutputModes: is missing: required since 0.2",
                               "/provider/url: is missing: required since 0.2",
                               "/skills/0/tags: is missing: required since 0.2"});
}

TEST_CASE("Remote card: the check finds conflicting transports, wrong URLs and unknown security schemes") {
  CHECK(problems_of(R"({"protocolVersion":"0.3.0","name":"A","version":"1","url":"http://a/","capabilities":
      {"extensions":[{"required":"yes"}]},"description":"","defaultInputModes":[],"defaultOutputModes":[],"skills":
      [{"id":"s","name":"S","description":"d","tags":[],"security":[{"no":[]}]}],"preferredTransport":"JSONRPC",
      "additionalInterfaces":[{"url":"http://a/","transport":"HTTP+JSON"},{"url":"rel","transport":"JSONRPC"},
      {"url":"host:1","transport":"GRPC"}],
      "securitySchemes":{"a":{"type":"http"},"b":{"type":"magic"},"c":{"apiKeySecurityScheme":{"name":"k"}},
      "d":{"type":"oauth2","flows":{"hand":{}}}},"security":[{"a":"x"},5]})") ==
        std::vector<std::string>{
            "/capabilities/extensions/0/uri: is missing",
            "/capabilities/extensions/0/required: must be true or false",
            "/additionalInterfaces/0: the same URL is already listed with another transport: JSONRPC",
            "/additionalInterfaces/1/url: must be an absolute http or https URL",
            "/securitySchemes/a: \"scheme\" is missing",
            "/securitySchemes/b: requires a \"type\" (apiKey, http, oauth2, openIdConnect or mutualTLS) or "
            "the A2A 1.0 member for it (httpAuthSecurityScheme, ...)",
            "/securitySchemes/c: must have the location \"header\", \"query\" or \"cookie\"",
            "/securitySchemes/d/flows: has none of the flows that A2A defines",
            "/security/0/a: must be a list of scopes", "/security/1: must be of type \"object\"",
            "/skills/0/security/0/no: securitySchemes has no scheme with this name"});
}

}  // namespace remote_card_test
