#include "server/admission/page_tokens.h"

#include <doctest/doctest.h>

#include "server/admission/access.h"

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

std::string token_of(std::string caller, std::string agent, const std::string& secret,
                     std::string user = "ann") {
  return server::make_page_token({{std::move(caller)}, std::move(user), std::move(agent), kNow + 60s},
                                 secret);
}

std::string caller_at(const std::string& token, const std::string& agent, base::Timestamp now = kNow) {
  const auto caller = server::caller_of_page(kTokens, token, {agent}, now);
  if (caller) return std::string(task::tenant_of(*caller)) + " of " + std::string(task::account_of(*caller));
  return caller.error().code == ErrorCode::unauthenticated ? "unknown" : "denied";
}

std::string refusal(const std::string& body) {
  const auto grant = server::read_page_grant(body, kTokens[1], kNow);
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
  const auto by_short = server::read_page_grant(R"({"user":"ann"})", kTokens[3], kNow);
  REQUIRE_FALSE(by_short);
  CHECK(by_short.error().for_caller.starts_with("your token is too short"));
}

TEST_CASE("Access: only page tokens are accepted in the query, and only for GET") {
  server::ServerOptions options;
  options.anonymous = false;
  options.tokens = kTokens;
  http::Request request;
  request.method = "GET";
  const auto far = std::chrono::floor<std::chrono::seconds>(base::SystemClock().now()) + 60s;
  request.query = {{"access_token", server::make_page_token({{"shop"}, "ann", "", far}, kShop)}};
  CHECK(server::authenticate(options, request, {"echo"}));
  request.method = "POST";
  CHECK_FALSE(server::authenticate(options, request, {"echo"}));
  request.method = "GET";
  request.query = {{"access_token", kShop}};
  CHECK_FALSE(server::authenticate(options, request, {"echo"}));
  CHECK_FALSE(server::authenticate_operator(options, request));
}

TEST_CASE("Access: a page's token restricts delegation like the token that signed it") {
  server::ServerOptions options;
  options.anonymous = false;
  options.tokens = std::vector<server::Token>{{kShop, {"shop"}, {"echo"}, server::Role::calls, true}};
  http::Request request;
  const auto far = std::chrono::floor<std::chrono::seconds>(base::SystemClock().now()) + 60s;
  request.headers = {
      {"Authorization", "Bearer " + server::make_page_token({{"shop"}, "ann", "", far}, kShop)}};
  const auto identity = server::identify(options, request, {"echo"});
  REQUIRE(identity);
  REQUIRE(identity->child_agents);
  CHECK(*identity->child_agents == std::vector<std::string>{"echo"});
}

}  // namespace page_tokens_test
