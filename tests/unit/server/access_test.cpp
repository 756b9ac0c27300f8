#include "server/admission/access.h"

#include <doctest/doctest.h>

#include "server/admission/jwt_claims.h"
#include "server/admission/resource_metadata.h"
#include "server/admission/token_secret.h"
#include "server/shared/answers.h"

namespace access_test {

using namespace baton;
using base::ErrorCode;

namespace {

http::Request request_with(std::vector<std::pair<std::string, std::string>> headers) {
  http::Request request;
  request.headers = std::move(headers);
  return request;
}

server::ServerOptions two_callers() {
  server::ServerOptions options;
  options.anonymous = false;
  options.tokens =
      std::vector<server::Token>{{"alice-secret", {"alice"}, {}}, {"bob-secret", {"bob"}, {"echo"}}};
  return options;
}

std::string value_of(const std::vector<std::pair<std::string, std::string>>& headers,
                     const std::string& name) {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

}  // namespace

TEST_CASE("Access: a token identifies its caller, with any case of the scheme and any spaces after it") {
  const auto options = two_callers();
  for (const char* scheme : {"Bearer ", "bearer ", "BEARER ", "Bearer    "}) {
    const auto caller = server::authenticate(
        options, request_with({{"Authorization", scheme + std::string("alice-secret")}}), {"tools"});
    REQUIRE(caller);
    CHECK(caller->value == "alice");
  }
}

TEST_CASE("Access: if tokens are configured a request without a known one is refused") {
  const auto options = two_callers();
  for (const char* header : {"", "Bearer", "Bearer ", "Bearer alice", "Bearer alice-secretx", "alice-secret",
                             "Basic alice-secret", "Bearer   ", "Bearer\talice-secret"}) {
    CAPTURE(header);
    const auto caller = server::authenticate(options, request_with({{"Authorization", header}}), {"echo"});
    REQUIRE_FALSE(caller);
    CHECK(caller.error().code == ErrorCode::unauthenticated);
  }
  CHECK_FALSE(server::authenticate(options, request_with({}), {"echo"}));
}

TEST_CASE("Access: a name in a certificate identifies its caller if there is no token and no foreign page") {
  auto options = two_callers();
  options.https = true;
  server::Scopes reads;
  reads.add(server::Scope::read);
  options.tokens = std::vector<server::Token>{
      {"alice-secret", {"alice"}, {}},
      {"", {"ann"}, {"echo"}, server::Role::calls, false, reads, "URI:spiffe://test/ann"},
      {"", {"otto"}, {}, server::Role::operates, false, server::Scopes::all(), "DNS:otto.test"}};
  const auto with = [](std::vector<std::string> names,
                       std::vector<std::pair<std::string, std::string>> headers = {}) {
    headers.emplace_back("Host", "here.test");
    http::Request request = request_with(std::move(headers));
    request.certificate = std::make_shared<const http::tls::Peer>(http::tls::Peer{std::move(names)});
    return request;
  };
  const auto caller = [&](const http::Request& request, const std::string& agent = "echo") -> std::string {
    const auto found = server::authenticate(options, request, {agent});
    return found ? found->value : found.error().code == ErrorCode::unauthenticated ? "nobody" : "not here";
  };
  CHECK(caller(with({"DNS:x", "URI:spiffe://test/ann"})) == "ann");
  CHECK(caller(with({"URI:spiffe://test/ann"}), "tools") == "not here");
  for (const char* name : {"URI:spiffe://test/ann/x", "DNS:spiffe://test/ann", ""})
    CHECK(caller(with({name})) == "nobody");
  CHECK(caller(with({})) == "nobody");
  CHECK(caller(with({"DNS:otto.test"}, {{"Authorization", "Bearer alice-secret"}})) == "alice");
  CHECK(caller(with({"DNS:otto.test"}, {{"Authorization", "Bearer wrong"}})) == "nobody");
  CHECK(caller(with({"DNS:otto.test"}, {{"Origin", "http://localhost:1"}})) == "nobody");
  CHECK(caller(with({"DNS:otto.test"}, {{"Origin", "https://here.test"}})) == "otto");
  CHECK(caller(with({"DNS:otto.test"}, {{"Sec-Fetch-Site", "cross-site"}})) == "nobody");
  CHECK(server::authenticate_operator(options, with({"DNS:otto.test"}))->may_act);
  CHECK_FALSE(server::authenticate_operator(options, with({"URI:spiffe://test/ann"})));
  CHECK(server::may_send_body(options, with({"DNS:otto.test"})));
  CHECK_FALSE(server::may_send_body(options, with({"DNS:other.test"})));
  CHECK(server::scopes_of(options, with({"URI:spiffe://test/ann"})) == reads);
  // Without a secret this server signs no tokens for its pages.
  CHECK_FALSE(server::page_source(options, with({"URI:spiffe://test/ann"})));
  options.token_secret = std::make_shared<const server::TokenSecret>();
  CHECK(server::page_source(options, with({"DNS:otto.test"})).error().code == ErrorCode::permission_denied);
  CHECK(server::page_source(options, with({"DNS:x"})).error().code == ErrorCode::unauthenticated);
  CHECK(server::page_source(options, with({"URI:spiffe://test/ann"}))->name == "URI:spiffe://test/ann");
}

TEST_CASE("Access: a token is valid for its agents only") {
  const auto options = two_callers();
  const auto request = request_with({{"Authorization", "Bearer bob-secret"}});
  CHECK(server::authenticate(options, request, {"echo"}));
  const auto elsewhere = server::authenticate(options, request, {"tools"});
  REQUIRE_FALSE(elsewhere);
  CHECK(elsewhere.error().code == ErrorCode::permission_denied);
}

TEST_CASE("Access: a token decides whether its agents also restrict delegation") {
  server::ServerOptions options;
  options.anonymous = true;
  options.tokens = std::vector<server::Token>{{"own", {"ann"}, {"echo"}, server::Role::calls, true},
                                              {"any", {"ann"}, {"echo"}}};
  const auto bound_by = [&](const std::string& authorization) {
    const auto request =
        authorization.empty() ? http::Request() : request_with({{"Authorization", authorization}});
    const auto identity = server::identify(options, request, {"echo"});
    REQUIRE(identity);
    return identity->child_agents;
  };
  REQUIRE(bound_by("Bearer own"));
  CHECK(*bound_by("Bearer own") == std::vector<std::string>{"echo"});
  CHECK_FALSE(bound_by("Bearer any"));
  CHECK_FALSE(bound_by(""));
}

TEST_CASE("Access: a server without tokens ignores them; with anonymous callers a wrong token is refused") {
  server::ServerOptions open;
  const auto request = request_with({{"Authorization", "Bearer whatever"}});
  CHECK(server::authenticate(open, request, {"echo"})->value == "anonymous");
  auto mixed = two_callers();
  mixed.anonymous = true;
  CHECK(server::authenticate(mixed, request_with({}), {"echo"})->value == "anonymous");
  CHECK_FALSE(server::authenticate(mixed, request, {"echo"}));
}

TEST_CASE("Access: only pages of allowed origins may read answers, and never with credentials") {
  server::ServerOptions options;
  options.cors_origins = {"https://chat.example"};
  const auto allowed = server::cors_headers(options, request_with({{"Origin", "https://chat.example"}}));
  CHECK(value_of(allowed, "Access-Control-Allow-Origin") == "https://chat.example");
  CHECK(value_of(allowed, "Access-Control-Allow-Credentials").empty());
  CHECK(server::cors_headers(options, request_with({{"Origin", "https://chat.example.evil"}})).empty());
  CHECK(server::cors_headers(options, request_with({})).empty());
  CHECK(server::origin_may_call(options, request_with({{"Origin", "https://chat.example"}})));
  CHECK_FALSE(server::origin_may_call(options, request_with({{"Origin", "https://evil.example"}})));
  CHECK(server::origin_may_call(options, request_with({})));
  options.cors_origins = {"*"};
  CHECK_FALSE(server::cors_headers(options, request_with({{"Origin", "null"}})).empty());
  options.cors = false;
  CHECK(server::cors_headers(options, request_with({{"Origin", "https://chat.example"}})).empty());
}

TEST_CASE("Access: a preflight names methods and headers to allowed origins only") {
  server::ServerOptions options;
  options.cors_origins = {"https://chat.example"};
  const auto yes = server::preflight(options, request_with({{"Origin", "https://chat.example"}}));
  CHECK(yes.status == 204);
  CHECK(value_of(yes.headers, "Access-Control-Allow-Headers").find("Last-Event-ID") != std::string::npos);
  const auto no = server::preflight(options, request_with({{"Origin", "https://other.example"}}));
  CHECK(value_of(no.headers, "Access-Control-Allow-Methods").empty());
}

TEST_CASE("Access: a preflight allows the headers that an allowed page asks for, if the list is valid") {
  server::ServerOptions options;
  options.cors_origins = {"https://chat.example"};
  const auto allowed = [&](const std::string& asked, const std::string& origin = "https://chat.example") {
    const auto reply = server::preflight(
        options, request_with({{"Origin", origin}, {"Access-Control-Request-Headers", asked}}));
    return value_of(reply.headers, "Access-Control-Allow-Headers");
  };
  const std::string usual = allowed("");
  CHECK(allowed("x-stainless-os, X-Custom") == usual + ", x-stainless-os, X-Custom");
  CHECK(allowed("x-one,x-two") == usual + ", x-one, x-two");
  CHECK(allowed("x-one, bad name") == usual);
  CHECK(allowed("x-one,,x-two") == usual);
  CHECK(allowed(std::string(3'000, 'x')) == usual);
  std::string many = "x";
  for (int i = 0; i < 64; ++i) many += ",x";
  CHECK(allowed(many) == usual);
  CHECK(allowed("x-custom", "https://other.example").empty());
}

TEST_CASE("Access: the origin `loopback` allows only pages of the caller's own machine") {
  server::ServerOptions options;
  options.cors_origins = {"loopback"};
  for (const char* page :
       {"http://localhost:8000", "https://127.0.0.1", "http://[::1]:3000", "http://a.localhost"}) {
    CAPTURE(page);
    CHECK(server::origin_may_call(options, request_with({{"Origin", page}})));
  }
  for (const char* page :
       {"https://evil.example", "http://localhost.evil.example", "http://127.0.0.1.evil.example", "null",
        "chrome-extension://localhost", "http://evil.example:8080"}) {
    CAPTURE(page);
    CHECK_FALSE(server::origin_may_call(options, request_with({{"Origin", page}})));
  }
}

TEST_CASE("Access: two Authorization headers are refused, even if both are right") {
  const auto twice =
      request_with({{"Authorization", "Bearer alice-secret"}, {"authorization", "Bearer alice-secret"}});
  CHECK_FALSE(server::authenticate(two_callers(), twice, {"tools"}));
  CHECK_FALSE(server::authenticate(server::ServerOptions(), twice, {"tools"}));
}

TEST_CASE("Access: a large body is accepted if the request's head authenticates the caller") {
  auto options = two_callers();
  const auto may_send = [&](const std::string& token) {
    return server::may_send_body(options, request_with({{"authorization", token}}));
  };
  const auto nobody = request_with({});
  CHECK(may_send("Bearer alice-secret"));
  CHECK_FALSE(may_send("Bearer wrong"));
  CHECK_FALSE(server::may_send_body(options, nobody));
  options.anonymous = true;
  CHECK(server::may_send_body(options, nobody));
  CHECK_FALSE(may_send("Bearer wrong"));
  CHECK(server::may_send_body(server::ServerOptions(), request_with({{"Authorization", "Bearer wrong"}})));
}

TEST_CASE("Access: tokens may be replaced while they are used") {
  auto options = two_callers();
  const server::ServerOptions copy = options;
  const auto& before = options.tokens.now();
  options.tokens = std::vector<server::Token>{{"new-secret", {"alice"}, {}}};
  CHECK(before.size() == 2);
  CHECK(server::authenticate(copy, request_with({{"Authorization", "Bearer new-secret"}}), {"tools"}));
  CHECK_FALSE(
      server::authenticate(copy, request_with({{"Authorization", "Bearer alice-secret"}}), {"tools"}));
}

TEST_CASE("Access: a token of each role is valid for its own requests") {
  server::ServerOptions options;
  options.anonymous = false;
  options.tokens = std::vector<server::Token>{{"ann-secret", {"ann"}, {}},
                                              {"vera-secret", {"vera"}, {}, server::Role::views},
                                              {"otto-secret", {"otto"}, {}, server::Role::operates}};
  const auto with = [](const char* token) {
    return request_with({{"Authorization", std::string("Bearer ") + token}});
  };
  CHECK(server::authenticate(options, with("ann-secret"), {"echo"}));
  CHECK(server::authenticate(options, with("vera-secret"), {"echo"}).error().code ==
        ErrorCode::permission_denied);
  CHECK(server::authenticate(options, with("otto-secret"), {"echo"})->value == "otto");
  CHECK(server::authenticate_operator(options, with("ann-secret")).error().code ==
        ErrorCode::permission_denied);
  CHECK_FALSE(server::authenticate_operator(options, with("vera-secret"))->may_act);
  CHECK(server::authenticate_operator(options, with("otto-secret"))->may_act);
  CHECK(server::authenticate_operator(options, with("wrong")).error().code == ErrorCode::unauthenticated);
  CHECK(server::authenticate_operator(options, request_with({})).error().code == ErrorCode::unauthenticated);
}

TEST_CASE(
    "Access: without tokens there are no operators, and with operators' tokens only callers stay anonymous") {
  server::ServerOptions options;
  CHECK_FALSE(server::authenticate_operator(options, request_with({{"Authorization", "Bearer x"}})));
  options.tokens = std::vector<server::Token>{{"otto-secret", {"otto"}, {}, server::Role::operates}};
  CHECK(server::authenticate(options, request_with({}), {"echo"})->value == "anonymous");
  CHECK(server::authenticate(options, request_with({{"Authorization", "Bearer x"}}), {"echo"})->value ==
        "anonymous");
}

TEST_CASE("Access: a page counts as the server's own only if its origin is the host of the request") {
  server::ServerOptions options;
  options.cors_origins = {"*"};
  const auto is_own = [&](std::vector<std::pair<std::string, std::string>> headers) {
    headers.emplace_back("Host", "127.0.0.1:8080");
    return server::is_of_own_page(options, request_with(std::move(headers)));
  };
  CHECK(is_own({}));
  CHECK(is_own({{"Origin", "http://127.0.0.1:8080"}, {"Sec-Fetch-Site", "same-origin"}}));
  CHECK(is_own({{"Sec-Fetch-Site", "none"}}));
  for (const char* origin :
       {"http://127.0.0.1:8081", "https://127.0.0.1:8080", "null", "", "http://evil.example"}) {
    CAPTURE(origin);
    CHECK_FALSE(is_own({{"Origin", origin}}));
  }
  CHECK_FALSE(is_own({{"Sec-Fetch-Site", "cross-site"}}));
  CHECK_FALSE(is_own({{"Sec-Fetch-Site", "same-site"}}));
  CHECK_FALSE(is_own({{"Origin", "http://127.0.0.1:8080"}, {"Origin", "http://evil.example"}}));
}

TEST_CASE("Access: a token's scopes go with its caller, and bind operators, too") {
  using server::Scope;
  const auto with_scopes = [](std::initializer_list<Scope> list, server::Role role) {
    server::Token token{"secret", {"ann"}, {}, role};
    token.scopes = {};
    for (const Scope each : list) token.scopes.add(each);
    server::ServerOptions options;
    options.tokens = std::vector<server::Token>{token};
    return options;
  };
  const auto request = request_with({{"Authorization", "Bearer secret"}});
  const auto reads = with_scopes({Scope::read}, server::Role::operates);
  CHECK(server::identify(reads, request, {"echo"})->scopes.has(Scope::read));
  CHECK_FALSE(server::identify(reads, request, {"echo"})->scopes.has(Scope::send));
  CHECK(server::scopes_of(reads, request) == server::identify(reads, request, {"echo"})->scopes);
  CHECK(server::scopes_of(reads, request_with({})) == server::Scopes::all());
  REQUIRE(server::authenticate_operator(reads, request));
  CHECK_FALSE(server::authenticate_operator(reads, request)->may_act);
  const auto acts = with_scopes({Scope::read, Scope::operate}, server::Role::operates);
  CHECK(server::authenticate_operator(acts, request)->may_act);
  const auto viewer = with_scopes({Scope::read, Scope::operate}, server::Role::views);
  CHECK_FALSE(server::authenticate_operator(viewer, request)->may_act);
  const auto blind =
      server::authenticate_operator(with_scopes({Scope::operate}, server::Role::operates), request);
  REQUIRE_FALSE(blind);
  CHECK(server::lacked_scope(blind.error()) == Scope::read);
  CHECK_FALSE(server::lacked_scope({ErrorCode::permission_denied, "this token is read-only", {}}));
}

TEST_CASE("Access: a token may come in the header for keys, if that is set, but not beside another one") {
  auto options = two_callers();
  const auto with = [&](std::vector<std::pair<std::string, std::string>> headers) {
    return server::authenticate(options, request_with(std::move(headers)), {"echo"});
  };
  CHECK_FALSE(with({{"X-API-Key", "alice-secret"}}));
  options.key_header = "X-API-Key";
  CHECK(with({{"x-api-key", "alice-secret"}})->value == "alice");
  CHECK(with({{"Authorization", "Bearer alice-secret"}})->value == "alice");
  for (const char* wrong : {"", "alice", "Bearer alice-secret", "alice-secretx"})
    CHECK_FALSE(with({{"X-API-Key", wrong}}));
  CHECK_FALSE(with({{"X-API-Key", "alice-secret"}, {"Authorization", "Bearer alice-secret"}}));
  CHECK_FALSE(with({{"X-API-Key", "alice-secret"}, {"X-API-Key", "alice-secret"}}));
  CHECK(server::brings_token(options, request_with({{"X-Api-Key", "x"}})));
  CHECK_FALSE(server::brings_token(options, request_with({{"X-Other", "x"}})));
  const auto request = request_with({{"X-API-Key", "alice-secret"}});
  CHECK(server::may_send_body(options, request));
  REQUIRE(server::page_source(options, request));
  // A wrong key is refused where anonymous callers are admitted, too.
  options.anonymous = true;
  CHECK(with({})->value == "anonymous");
  CHECK_FALSE(with({{"X-API-Key", "wrong"}}));
  for (const char* name : {"X-API-Key", "Ocp-Apim-Subscription-Key"}) CHECK(server::may_be_key_header(name));
  for (const char* name : {"Authorization", "HOST", "Origin", "X-Forwarded-For", "A2A-Version",
                           "Mcp-Session-Id", "x-csrf-token"})
    CHECK_FALSE(server::may_be_key_header(name));
}

namespace {

// Two authorization servers. The second one gives each of its tokens the scope `read`; "jwt" is such a token.
struct Issuers final : server::TokenSource {
  Found find(std::string_view secret) override {
    if (secret != "jwt") return {};
    const auto token = std::make_shared<server::Token>();
    token->caller = server::caller_of("https://other.example", "ann");
    token->scopes = server::Scopes();
    for (const char* scope : {"send", "read"}) token->scopes.add(std::string_view(scope));
    return {.token = token};
  }
  Wait await(std::string_view, const std::string&, std::function<void()>) override { return Wait::none; }
  std::vector<Issuer> issuers() const override {
    server::Scopes read;
    read.add(server::Scope::read);
    return {{"https://id.example", "baton:"}, {"https://other.example", "b/", {}, read}};
  }
};

}  // namespace

TEST_CASE("Access: a challenge names the metadata of the resource that was asked for") {
  server::ServerOptions options;
  const auto challenge = [&](const char* path, const base::Error& error, const char* authorization) {
    http::Request request = request_with({{"Host", "baton.example"}});
    if (*authorization != '\0') request.headers.emplace_back("Authorization", authorization);
    request.path = path;
    http::Reply reply = server::refusal(error);
    server::complete_challenge(options, request, reply);
    return value_of(reply.headers, "WWW-Authenticate");
  };
  const base::Error none{ErrorCode::unauthenticated, "x", {}};
  CHECK(challenge("/mcp", none, "Bearer x") == R"(Bearer realm="baton")");
  options.jwt = std::make_shared<Issuers>();
  const std::string place =
      R"(, resource_metadata="http://baton.example/.well-known/oauth-protected-resource)";
  CHECK(challenge("/mcp", none, "") == R"(Bearer realm="baton")" + place + R"(/mcp")");
  CHECK(challenge("/agents/echo/v1/tasks/t", none, "Bearer x") ==
        R"(Bearer realm="baton", error="invalid_token")" + place + R"(/agents/echo")");
  CHECK(challenge("/agents/echo/mcp/", none, "") ==
        R"(Bearer realm="baton")" + place + R"(/agents/echo/mcp")");
  options.public_url = "https://x.example/baton/";
  CHECK(challenge("/agents/", server::lacks(server::Scope::cancel), "Bearer x") ==
        R"(Bearer realm="baton", error="insufficient_scope", scope="baton:cancel", )"
        R"(resource_metadata="https://x.example/baton/.well-known/oauth-protected-resource")");
  CHECK(challenge("/", {ErrorCode::permission_denied, "another", {}}, "Bearer x").empty());
}

TEST_CASE("Access: a client that lacks a scope learns all that its next token needs") {
  server::ServerOptions options;
  options.jwt = std::make_shared<Issuers>();
  const auto scopes = [&](server::Scope lacked, const char* authorization) {
    http::Reply reply = server::refusal(server::lacks(lacked));
    server::complete_challenge(options, request_with({{"Authorization", authorization}}), reply);
    const std::string challenge = value_of(reply.headers, "WWW-Authenticate");
    const std::size_t from = challenge.find("scope=\"") + 7;
    return challenge.substr(from, challenge.find('"', from) - from);
  };
  CHECK(scopes(server::Scope::cancel, "Bearer jwt") == "b/send b/cancel");
  CHECK(scopes(server::Scope::cancel, "Bearer other") == "baton:cancel");
}

TEST_CASE("Access: metadata lists the scopes that clients must ask for at the resource") {
  server::ServerOptions options;
  const auto issuers = std::make_shared<Issuers>();
  options.jwt = issuers;
  options.public_url = "https://x.example";
  const auto listed = [&](const char* path) {
    const std::string body = server::metadata_reply(options, request_with({}), path, "").body;
    const std::size_t from = body.find("\"scopes_supported\":");
    return from == std::string::npos ? std::string()
                                     : body.substr(from + 19, body.find(']', from) - from - 18);
  };
  CHECK(listed("/mcp") == R"(["b/cancel","b/send","baton:cancel","baton:read","baton:send"])");
  CHECK(listed("/agents/echo") == listed("/mcp"));
  CHECK(listed("").find("baton:operate") != std::string::npos);
  struct Giver final : server::TokenSource {
    Found find(std::string_view) override { return {}; }
    Wait await(std::string_view, const std::string&, std::function<void()>) override { return Wait::none; }
    std::vector<Issuer> issuers() const override {
      return {{"https://id.example", "", {}, server::Scopes::all()}};
    }
  };
  options.jwt = std::make_shared<Giver>();
  CHECK(listed("/mcp").empty());
}

}  // namespace access_test
