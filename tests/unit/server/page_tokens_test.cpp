#include "server/admission/page_tokens.h"

#include <doctest/doctest.h>

#include "server/admission/access.h"
#include "server/admission/jwt_claims.h"
#include "server/admission/token_secret.h"

namespace page_tokens_test {

using namespace baton;
using namespace std::chrono_literals;
using base::ErrorCode;

namespace {

const base::Timestamp kNow(1'700'000'000'000ms);
const std::string kShop = "shop-secret-of-enough-characters", kDesk = "desk-secret-of-enough-characters",
                  kEye = "eye-secret-of-enough-characters.";
const std::vector<server::Token> kTokens{{kShop, {"shop"}, {}},
                                         {kDesk, {"desk"}, {"echo"}},
                                         {kEye, {"eye"}, {}, server::Role::views},
                                         {"short-secret", {"short"}, {}}};

server::ServerOptions options_of(std::vector<server::Token> tokens) {
  server::ServerOptions options;
  options.anonymous = false;
  options.tokens = std::move(tokens);
  options.token_secret = std::make_shared<const server::TokenSecret>(std::string(32, 's'));
  return options;
}
const server::ServerOptions kOptions = options_of(kTokens);

server::PageSource source_of(server::Token token) {
  return {server::PageSource::Kind::token, {}, std::make_shared<const server::Token>(std::move(token))};
}

std::string token_of(std::string caller, std::string agent, const std::string& secret,
                     std::string user = "ann", base::Timestamp until = kNow + 60s) {
  return server::make_page_token(kOptions, {{std::move(caller)}, std::move(user), std::move(agent), until},
                                 source_of({secret, {}, {}}))
      .value();
}

std::string caller_at(const std::string& token, const std::string& agent, base::Timestamp now = kNow) {
  const auto page = server::identify_page(kOptions, token, {agent}, now);
  if (page)
    return std::string(task::tenant_of(page->caller)) + " of " + std::string(task::account_of(page->caller));
  return page.error().code == ErrorCode::unauthenticated ? "unknown" : "denied";
}

std::string refusal(const std::string& body) {
  const auto grant = server::read_page_grant(body, source_of(kTokens[1]), kNow);
  return grant ? "" : grant.error().for_caller;
}

}  // namespace

TEST_CASE("Page token: it identifies its user within the caller, until it expires") {
  const std::string token = token_of("shop", "", kShop);
  CHECK(server::is_page_token(token));
  CHECK(token.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") ==
        std::string::npos);
  CHECK(caller_at(token, "echo") == "ann of shop");
  CHECK(caller_at(token, "echo", kNow + 60s - 1ms) == "ann of shop");
  CHECK(caller_at(token, "echo", kNow + 60s) == "unknown");
}

TEST_CASE("Page token: it is limited to its agent and to the agents of its caller's token") {
  CHECK(caller_at(token_of("shop", "echo", kShop), "echo") == "ann of shop");
  CHECK(caller_at(token_of("shop", "echo", kShop), "tools") == "denied");
  CHECK(caller_at(token_of("desk", "", kDesk), "tools") == "denied");
  CHECK(caller_at(token_of("desk", "tools", kDesk), "tools") == "denied");
}

TEST_CASE("Page token: a token that its caller has not signed is unknown") {
  const std::string token = token_of("shop", "", kShop);
  CHECK(caller_at(token_of("desk", "", kShop), "echo") == "unknown");
  CHECK(caller_at(token_of("nobody", "", kShop), "echo") == "unknown");
  CHECK(caller_at(token_of("eye", "", kEye), "echo") == "unknown");
  CHECK(caller_at(token_of("short", "", "short-secret"), "echo") == "unknown");
  for (std::size_t i = 0; i < token.size(); ++i) {
    std::string other = token;
    other[i] = other[i] == 'A' ? 'B' : 'A';
    CAPTURE(other);
    CHECK(caller_at(other, "echo") == "unknown");
    CHECK(caller_at(token.substr(0, i), "echo") == "unknown");
  }
}

TEST_CASE("Page token: a token for an invalid user name is unknown, even if signed") {
  for (const std::string user : {"", "..", "tasks", "a/b",
                                 "a\x1f"
                                 "b",
                                 "a\n"})
    CHECK(caller_at(token_of("shop", "", kShop, user), "echo") == "unknown");
}

TEST_CASE("Page token: the request for one is checked") {
  CHECK(refusal(R"({"user":"ann"})").empty());
  CHECK(refusal(R"({"user":"ann","agent":"echo","seconds":86400})").empty());
  CHECK(refusal(R"([])") == "the body must be an object");
  CHECK(refusal(R"({"user":""})").starts_with("user: "));
  CHECK(refusal(R"({"user":"a/b"})").starts_with("user: "));
  CHECK(refusal(R"({"user":"ann","agent":"tools"})").starts_with("agent: "));
  CHECK(refusal(R"({"user":"ann","seconds":0})").starts_with("seconds: "));
  CHECK(refusal(R"({"user":"ann","seconds":86401})").starts_with("seconds: "));
  CHECK(refusal(R"({"user":"ann","second":1})") == "second: is unknown");
  const auto by_short = server::read_page_grant(R"({"user":"ann"})", source_of(kTokens[3]), kNow);
  REQUIRE_FALSE(by_short);
  CHECK(by_short.error().for_caller.starts_with("your token is too short"));
}

TEST_CASE("Page token: one from a certificate or a JWT has its rights, and ends with it") {
  struct Issuers final : server::TokenSource {
    Found find(std::string_view) override { return {}; }
    Wait await(std::string_view, const std::string&, std::function<void()>) override { return Wait::none; }
    std::vector<Issuer> issuers() const override { return all; }
    std::vector<Issuer> all{{"https://id.example", "", "first"}};
  };
  using Kind = server::PageSource::Kind;
  const auto issuers = std::make_shared<Issuers>();
  const server::Token named{"",     {"fleet"}, {"echo"}, server::Role::calls, false, server::Scopes::all(),
                            "DNS:a"};
  auto options = options_of({named});
  options.jwt = issuers;
  server::Scopes reads;
  reads.add(server::Scope::read);
  const task::Caller ann = server::caller_of("https://id.example", "ann");
  const auto jwt = std::make_shared<const server::Token>(
      server::Token{"", ann, {"echo"}, server::Role::calls, false, reads});
  const server::PageSource by_jwt{Kind::jwt, "https://id.example", jwt, kNow + 90s + 500ms, "first"},
      by_certificate{Kind::certificate, "DNS:a", std::make_shared<const server::Token>(named), {}};
  const auto made = [&](const server::PageSource& source) {
    const auto grant = server::read_page_grant(R"({"user":"u","seconds":600})", source, kNow).value();
    return server::make_page_token(options, grant, source).value();
  };
  const std::string of_jwt = made(by_jwt), of_certificate = made(by_certificate);
  const auto found = [&](const std::string& token, base::Timestamp now = kNow, const char* agent = "echo") {
    return server::identify_page(options, token, {agent}, now);
  };
  REQUIRE(found(of_jwt));
  CHECK(task::account_of(found(of_jwt)->caller) == ann.value);
  CHECK(found(of_jwt)->rights->scopes == reads);
  CHECK(found(of_jwt, kNow, "tools").error().code == ErrorCode::permission_denied);
  CHECK(found(of_jwt, kNow + 89s));
  CHECK_FALSE(found(of_jwt, kNow + 90s));
  CHECK(found(of_certificate, kNow + 599s));
  CHECK(found(of_certificate, kNow, "tools").error().code == ErrorCode::permission_denied);
  for (std::size_t i = 0; i < of_jwt.size(); ++i) {
    std::string other = of_jwt;
    other[i] = other[i] == 'A' ? 'B' : 'A';
    CAPTURE(other);
    CHECK_FALSE(found(other));
  }
  const auto over = server::read_page_grant(R"({"user":"u"})", {Kind::jwt, {}, jwt, kNow + 900ms}, kNow);
  CHECK(over.error().code == ErrorCode::unauthenticated);
  // Nothing here learns that it was revoked.
  for (auto source : {by_jwt, by_certificate}) {
    source.until.reset();
    CHECK(server::read_page_grant(R"({"user":"u","seconds":86400})", source, kNow)->until == kNow + 3600s);
  }
  issuers->all[0].rules = "second";
  CHECK_FALSE(found(of_jwt));
  issuers->all[0].rules = "first";
  CHECK(found(of_jwt));
  issuers->all.clear();
  CHECK_FALSE(found(of_jwt));
  options.tokens = std::vector<server::Token>();
  CHECK_FALSE(found(of_certificate));
  options.tokens = std::vector<server::Token>{named};
  options.token_secret = std::make_shared<const server::TokenSecret>();
  CHECK_FALSE(found(of_certificate));
}

TEST_CASE("Access: only page tokens are accepted in the query, and only for GET") {
  const server::ServerOptions options = options_of(kTokens);
  http::Request request;
  request.method = "GET";
  const auto far = std::chrono::floor<std::chrono::seconds>(base::SystemClock().now()) + 60s;
  request.query = {{"access_token", token_of("shop", "", kShop, "ann", far)}};
  CHECK(server::authenticate(options, request, {"echo"}));
  request.method = "POST";
  CHECK_FALSE(server::authenticate(options, request, {"echo"}));
  request.method = "GET";
  request.query = {{"access_token", kShop}};
  CHECK_FALSE(server::authenticate(options, request, {"echo"}));
  CHECK_FALSE(server::authenticate_operator(options, request));
}

TEST_CASE("Access: a page's token restricts delegation like the token that signed it") {
  auto options = options_of({});
  options.tokens = std::vector<server::Token>{{kShop, {"shop"}, {"echo"}, server::Role::calls, true}};
  http::Request request;
  const auto far = std::chrono::floor<std::chrono::seconds>(base::SystemClock().now()) + 60s;
  request.headers = {{"Authorization", "Bearer " + token_of("shop", "", kShop, "ann", far)}};
  const auto identity = server::identify(options, request, {"echo"});
  REQUIRE(identity);
  REQUIRE(identity->child_agents);
  CHECK(*identity->child_agents == std::vector<std::string>{"echo"});
}

}  // namespace page_tokens_test
