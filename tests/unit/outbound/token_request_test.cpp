#include "outbound/token_request.h"

#include <doctest/doctest.h>

#include <map>

#include "base/text.h"
#include "jose/jws.h"
#include "jose/signing_key.h"
#include "json/document.h"

namespace token_request_test {

using namespace baton;
using outbound::Server;
using std::chrono::seconds;

namespace {

const std::string kKey =
    R"({"kty":"EC","crv":"P-256","kid":"k1","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",)"
    R"("y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0","d":"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"})";
const base::Timestamp kNow{seconds(1'700'000'000)};

Server server() {
  Server server;
  server.auth = Server::Auth::oauth;
  server.client_id = "me & you";
  server.token_url = "https://id/token?x=1";
  return server;
}

std::map<std::string, std::string> members_of(std::string_view form) {
  std::map<std::string, std::string> members;
  while (!form.empty()) {
    const std::string_view pair = form.substr(0, form.find('&'));
    form.remove_prefix(std::min(form.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    const bool is_new = members
                            .emplace(*base::percent_decoded(pair.substr(0, equals)),
                                     *base::percent_decoded(pair.substr(equals + 1)))
                            .second;
    CHECK(is_new);
  }
  return members;
}

// Checks an assertion's signature and returns its header and its claims.
std::pair<json::Document, json::Document> read(const std::string& assertion) {
  const auto jws = jose::parse_jws(assertion);
  REQUIRE(jws);
  const auto key = jose::read_signing_key(kKey);
  CHECK(jose::is_signed_by(*jws, {key->key, "", {}}));
  CHECK(jws->typ == "JWT");
  CHECK(jws->algorithm == jose::Algorithm::es256);
  auto header = json::Document::parse(R"({"kid":")" + jws->kid + "\"}");
  auto claims = json::Document::parse(jws->payload);
  REQUIRE(claims);
  return {std::move(*header), std::move(*claims)};
}

}  // namespace

TEST_CASE("token_request: client credentials with a secret go in a header or in the body") {
  Server one = server();
  one.scope = "a b";
  one.resource = "https://mcp.example/mcp";
  auto request = outbound::token_request(one, "s3cret", "", kNow);
  REQUIRE(request);
  CHECK(request->body ==
        "grant_type=client_credentials&scope=a%20b&resource=https%3A%2F%2Fmcp.example%2Fmcp");
  CHECK(request->authorization == "Basic bWUlMjAlMjYlMjB5b3U6czNjcmV0");
  CHECK(request->secrets == std::vector<std::string>{"bWUlMjAlMjYlMjB5b3U6czNjcmV0", "s3cret"});
  one.secret_in_body = true;
  request = outbound::token_request(one, "s3cret", "", kNow);
  CHECK(members_of(request->body).at("client_secret") == "s3cret");
  CHECK(request->authorization.empty());
}

TEST_CASE("token_request: an assertion is signed for the token endpoint, short-lived and made once") {
  Server one = server();
  one.private_key_file = "key";
  const auto request = outbound::token_request(one, kKey, "", kNow);
  REQUIRE(request);
  CHECK(request->authorization.empty());
  auto form = members_of(request->body);
  CHECK(form.at("client_id") == "me & you");
  CHECK(form.at("client_assertion_type") == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
  CHECK(request->secrets == std::vector<std::string>{form.at("client_assertion")});
  const auto [header, claims] = read(form.at("client_assertion"));
  CHECK(header.root()["kid"].string() == "k1");
  CHECK(claims.root()["iss"].string() == "me & you");
  CHECK(claims.root()["sub"].string() == "me & you");
  CHECK(claims.root()["aud"].string() == "https://id/token?x=1");
  CHECK(claims.root()["iat"].integer() == 1'700'000'000);
  CHECK(claims.root()["exp"].integer() == 1'700'000'120);
  const std::string first = claims.root()["jti"].str();
  one.key_id = "k2";
  const auto again = read(*outbound::client_assertion(one, kKey, kNow));
  CHECK(again.first.root()["kid"].string() == "k2");
  CHECK(again.second.root()["jti"].string() != first);
  const auto refused = outbound::token_request(one, "s3cret-text", "", kNow);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().for_caller.find("s3cret") == std::string::npos);
}

TEST_CASE("token_request: an exchange has the caller's token, and names the actor where the card says so") {
  Server one = server();
  one.private_key_file = "key";
  one.audience = "them";
  one.exchange = Server::Exchange::token_exchange;
  auto request = outbound::token_request(one, kKey, "ann's token", kNow);
  auto form = members_of(request->body);
  CHECK(form.at("grant_type") == "urn:ietf:params:oauth:grant-type:token-exchange");
  CHECK(form.at("subject_token") == "ann's token");
  CHECK(form.at("subject_token_type") == "urn:ietf:params:oauth:token-type:access_token");
  CHECK(form.at("audience") == "them");
  CHECK_FALSE(form.contains("actor_token"));
  one.names_actor = true;
  request = outbound::token_request(one, kKey, "ann's token", kNow);
  form = members_of(request->body);
  CHECK(form.at("actor_token_type") == "urn:ietf:params:oauth:token-type:jwt");
  CHECK(read(form.at("actor_token")).second.root()["sub"].string() == "me & you");
  CHECK(form.at("actor_token") != form.at("client_assertion"));
  CHECK(request->secrets ==
        std::vector<std::string>{form.at("actor_token"), "ann's token", form.at("client_assertion")});
  one = server();
  one.secret_in_body = true;
  one.exchange = Server::Exchange::on_behalf_of;
  form = members_of(outbound::token_request(one, "s3cret", "ann's token", kNow)->body);
  CHECK(form ==
        std::map<std::string, std::string>{{"grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"},
                                           {"assertion", "ann's token"},
                                           {"requested_token_use", "on_behalf_of"},
                                           {"client_id", "me & you"},
                                           {"client_secret", "s3cret"}});
}

}  // namespace token_request_test
