#include "protocol/card/views.h"

#include <doctest/doctest.h>

#include "protocol/a2a/baton_extension.h"
#include "protocol/card/card.h"
#include "protocol/card/remote_card.h"
#include "protocol/card/remote_check.h"

namespace views_test {

using namespace baton;
using protocol::CardView;
using protocol::ServedCard;
using Bearer = protocol::ServedCard::Bearer;

namespace {

task::AgentCard plain_card() {
  task::AgentCard card;
  card.name = "Probe";
  card.description = "Tries";
  card.version = "1.2.3";
  card.provider = task::Provider{"Us", ""};
  card.default_input_modes = {"text/plain"};
  card.default_output_modes = {"text/plain"};
  task::Skill skill;
  skill.id = "s";
  skill.name = "Skill";
  card.skills = {skill};
  return card;
}

ServedCard serve(const task::AgentCard& card, Bearer bearer = Bearer::none) {
  ServedCard served{card, "http://host/agents/probe/", "http://host/agents/probe", ""};
  served.bearer = bearer;
  return served;
}

json::Document view_of(const ServedCard& served, CardView view) {
  auto document = json::Document::parse(protocol::write_card(served, view));
  REQUIRE(document.has_value());
  return std::move(*document);
}

std::vector<std::string> members_of(json::Value object) {
  std::vector<std::string> names;
  for (const json::Value member : object) names.emplace_back(member.key());
  std::sort(names.begin(), names.end());
  return names;
}

task::SecurityScheme oauth() {
  task::SecurityScheme scheme;
  scheme.name = "oauth";
  scheme.kind = task::SecurityScheme::Kind::oauth2;
  task::OAuthFlow device;
  device.kind = task::OAuthFlow::Kind::device_code;
  device.device_authorization_url = "https://id/device";
  device.token_url = "https://id/token";
  task::OAuthFlow code;
  code.authorization_url = "https://id/page";
  code.token_url = "https://id/token";
  code.scopes = {{"read", "Reads"}};
  code.pkce_required = true;
  task::OAuthFlow password;
  password.kind = task::OAuthFlow::Kind::password;
  password.token_url = "https://id/token";
  scheme.flows = {device, password, code};
  return scheme;
}

}  // namespace

TEST_CASE("Card view: the superset is a valid card of 0.3 and 1.0") {
  const task::AgentCard card = plain_card();
  const auto document = view_of(serve(card, Bearer::required), CardView::superset);
  const json::Value root = document.root();
  CHECK(protocol::versions_of(root) == std::vector{task::ProtocolVersion::v0_3, task::ProtocolVersion::v1_0});
  for (const auto& problem : protocol::check_remote_card(root))
    FAIL_CHECK(problem.pointer << " " << problem.reason);
  CHECK(root["url"].string() == "http://host/agents/probe/");
  CHECK(root["protocolVersion"].string() == "0.3.0");
  CHECK(root["preferredTransport"].string() == "JSONRPC");
  CHECK(root["authentication"].raw() == R"({"schemes":["bearer"]})");
  CHECK(root["securitySchemes"].raw() ==
        R"({"bearer":{"type":"http","scheme":"bearer","httpAuthSecurityScheme":{"scheme":"bearer"}}})");
  CHECK(root["security"].raw() == R"([{"bearer":[]}])");
  CHECK(root["securityRequirements"].raw() == R"([{"schemes":{"bearer":{"list":[]}}}])");
}

TEST_CASE("Card view: members that 0.1 may leave out are filled in for later versions") {
  const task::AgentCard card = plain_card();
  for (const CardView view : {CardView::superset, CardView::v0_3_rest, CardView::v1_0}) {
    const auto document = view_of(serve(card), view);
    CHECK(document.root()["provider"].raw() == R"({"organization":"Us","url":""})");
    const json::Value skill = *document.root()["skills"].begin();
    CHECK(skill.raw() == R"({"id":"s","name":"Skill","description":"","tags":[]})");
  }
}

TEST_CASE("Card view: the 1.0 card has no members of other versions") {
  task::AgentCard card = plain_card();
  card.extended.emplace();
  card.documentation_url = "https://doc";
  card.icon_url = "https://icon";
  const auto document = view_of(serve(card, Bearer::required), CardView::v1_0);
  CHECK(members_of(document.root()) ==
        std::vector<std::string>{"capabilities", "defaultInputModes", "defaultOutputModes", "description",
                                 "documentationUrl", "iconUrl", "name", "provider", "securityRequirements",
                                 "securitySchemes", "skills", "supportedInterfaces", "version"});
  CHECK(members_of(document.root()["capabilities"]) ==
        std::vector<std::string>{"extendedAgentCard", "extensions", "pushNotifications", "streaming"});
  CHECK(document.root()["securitySchemes"].raw() ==
        R"({"bearer":{"httpAuthSecurityScheme":{"scheme":"bearer"}}})");
}

TEST_CASE("Card view: the REST 0.3 card is ProtoJSON: wrapped schemes, wrapped requirements") {
  task::AgentCard card = plain_card();
  card.extended.emplace();
  const auto document = view_of(serve(card, Bearer::required), CardView::v0_3_rest);
  CHECK(members_of(document.root()) ==
        std::vector<std::string>{"additionalInterfaces", "capabilities", "defaultInputModes",
                                 "defaultOutputModes", "description", "name", "preferredTransport",
                                 "protocolVersion", "provider", "security", "securitySchemes", "skills",
                                 "supportsAuthenticatedExtendedCard", "url", "version"});
  CHECK(document.root()["security"].raw() == R"([{"schemes":{"bearer":{"list":[]}}}])");
  CHECK(document.root()["securitySchemes"].raw() ==
        R"({"bearer":{"httpAuthSecurityScheme":{"scheme":"bearer"}}})");
  CHECK(members_of(document.root()["capabilities"]) ==
        std::vector<std::string>{"extensions", "pushNotifications", "streaming"});
}

TEST_CASE("Card view: each binding is listed for 1.0 and 0.3, and no URL has two transports") {
  const task::AgentCard card = plain_card();
  ServedCard served = serve(card);
  served.grpc_url = "host:9090";
  const auto document = view_of(served, CardView::superset);
  const protocol::RemoteCard read = protocol::read_remote_card(document.root());
  using protocol::Binding;
  std::vector<protocol::RemoteInterface> expected;
  for (const auto version : {task::ProtocolVersion::v1_0, task::ProtocolVersion::v0_3}) {
    expected.push_back({served.json_rpc_url, Binding::json_rpc, version, {}});
    expected.push_back({served.rest_url, Binding::rest, version, {}});
    expected.push_back({served.grpc_url, Binding::grpc, version, {}});
  }
  CHECK(read.interfaces == expected);
  CHECK(document.root()["additionalInterfaces"].raw() ==
        R"([{"url":"http://host/agents/probe/","transport":"JSONRPC"},)"
        R"({"url":"http://host/agents/probe","transport":"HTTP+JSON"},)"
        R"({"url":"host:9090","transport":"GRPC"}])");
}

TEST_CASE("Card view: capabilities that the author or the server switches off are not declared") {
  task::AgentCard card = plain_card();
  for (const CardView view : {CardView::superset, CardView::v0_3_rest, CardView::v1_0}) {
    ServedCard served = serve(card);
    CHECK(view_of(served, view).root()["capabilities"]["streaming"].boolean());
    CHECK(view_of(served, view).root()["capabilities"]["pushNotifications"].boolean());
    served.push = false;
    CHECK(!view_of(served, view).root()["capabilities"]["pushNotifications"].boolean());
  }
  card.streaming = card.push = false;
  for (const CardView view : {CardView::superset, CardView::v0_3_rest, CardView::v1_0}) {
    const auto document = view_of(serve(card), view);
    CHECK(document.root()["capabilities"]["streaming"].is_bool());
    CHECK(!document.root()["capabilities"]["streaming"].boolean());
    CHECK(!document.root()["capabilities"]["pushNotifications"].boolean());
  }
}

TEST_CASE("Card view: without an extended card none is mentioned") {
  const task::AgentCard card = plain_card();
  for (const CardView view : {CardView::superset, CardView::v0_3_rest, CardView::v1_0}) {
    CHECK(protocol::write_card(serve(card), view).find("xtended") == std::string::npos);
  }
}

TEST_CASE("Card view: only the extended card has the extended description and skills") {
  task::AgentCard card = plain_card();
  task::Skill changed = card.skills[0], added = card.skills[0];
  changed.name = "Skill for you";
  added.id = "t";
  card.extended = task::CardExtras{"Tries harder", {changed, added}};
  ServedCard served = serve(card);
  for (const CardView view : {CardView::superset, CardView::v0_3_rest, CardView::v1_0}) {
    served.extended = false;
    CHECK(view_of(served, view).root()["skills"].size() == 1);
    CHECK(view_of(served, view).root()["description"].string() == "Tries");
    served.extended = true;
    const auto document = view_of(served, view);
    CHECK(document.root()["description"].string() == "Tries harder");
    REQUIRE(document.root()["skills"].size() == 2);
    CHECK((*document.root()["skills"].begin())["name"].string() == "Skill for you");
    CHECK(protocol::read_remote_card(document.root()).extended);
  }
}

TEST_CASE("Card view: optional tokens are shown, but not as required") {
  const task::AgentCard card = plain_card();
  const auto document = view_of(serve(card, Bearer::possible), CardView::superset);
  CHECK(document.root()["securitySchemes"]["bearer"].is_object());
  for (const char* member : {"security", "securityRequirements", "authentication"}) {
    CHECK(document.root()[member].missing());
  }
}

TEST_CASE("Card view: an author's schemes replace Baton's, and each version has the parts it knows") {
  task::AgentCard card = plain_card();
  card.security_schemes = {oauth()};
  card.security = {{{"oauth", {"read"}}}};
  const auto superset = view_of(serve(card, Bearer::required), CardView::superset);
  const json::Value scheme = superset.root()["securitySchemes"]["oauth"];
  CHECK(superset.root()["securitySchemes"].size() == 1);
  CHECK(members_of(scheme["flows"]) == std::vector<std::string>{"authorizationCode", "password"});
  CHECK(scheme["flows"]["authorizationCode"]["pkceRequired"].missing());
  CHECK(scheme["oauth2SecurityScheme"]["flows"].raw() ==
        R"({"authorizationCode":{"authorizationUrl":"https://id/page","tokenUrl":"https://id/token",)"
        R"("scopes":{"read":"Reads"},"pkceRequired":true}})");
  CHECK(superset.root()["authentication"].raw() == R"({"schemes":["oauth2"]})");
  const auto rest = view_of(serve(card), CardView::v0_3_rest);
  CHECK(rest.root()["securitySchemes"]["oauth"].raw() ==
        R"({"oauth2SecurityScheme":{"flows":{"authorizationCode":{"authorizationUrl":"https://id/page",)"
        R"("tokenUrl":"https://id/token","scopes":{"read":"Reads"}}}}})");
}

TEST_CASE("Card view: Baton's own extension is declared by every card, and is never required") {
  task::AgentCard card = plain_card();
  for (const CardView view : {CardView::superset, CardView::v0_3_rest, CardView::v1_0}) {
    for (const bool streaming : {true, false}) {
      card.streaming = streaming;
      // A copy of a card that Baton serves declares it, too.
      card.extensions.clear();
      if (streaming) card.extensions.push_back({std::string(protocol::kBatonExtension), "Another", true, {}});
      const auto shown = view_of(serve(card), view);
      const auto extensions = shown.root()["capabilities"]["extensions"];
      REQUIRE(extensions.size() == 1);
      CHECK((*extensions.begin())["uri"].string() == "urn:baton:a2a:1");
      CHECK((*extensions.begin())["required"].missing());
      CHECK(protocol::repeats_safely(protocol::read_card(shown.root())));
    }
  }
}

TEST_CASE("Card view: a view that is read back gives the same card") {
  task::AgentCard card = plain_card();
  card.extensions = {{"https://ext/1", "Times", true, {R"({"unit":"s"})"}}, {"https://ext/2", "", false, {}}};
  task::SecurityScheme key;
  key.name = "key";
  key.kind = task::SecurityScheme::Kind::api_key;
  key.location = "header";
  key.parameter = "X-Key";
  task::SecurityScheme mtls;
  mtls.name = "mtls";
  mtls.kind = task::SecurityScheme::Kind::mutual_tls;
  task::SecurityScheme connect;
  connect.name = "id";
  connect.kind = task::SecurityScheme::Kind::open_id_connect;
  connect.connect_url = "https://id/";
  card.security_schemes = {key, mtls, connect};
  card.security = {{{"key", {}}, {"mtls", {}}}, {{"id", {"all"}}}};
  card.skills[0].security = {{{"key", {}}}};
  for (const CardView view : {CardView::superset, CardView::v0_3_rest, CardView::v1_0}) {
    const auto document = view_of(serve(card), view);
    task::AgentCard shown = card;
    shown.extensions.push_back({std::string(protocol::kBatonExtension),
                                std::string(protocol::kBatonExtensionText),
                                false,
                                {std::string(protocol::kBatonExtensionParams)}});
    CHECK(protocol::read_card(document.root()) == shown);
    for (const auto& problem : protocol::check_remote_card(document.root())) {
      FAIL_CHECK(problem.pointer << " " << problem.reason);
    }
  }
}

}  // namespace views_test
