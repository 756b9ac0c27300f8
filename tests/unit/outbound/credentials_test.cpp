#include "outbound/credentials.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "raw_server.h"

namespace credentials_test {

using namespace baton;
using outbound::Credentials;
using outbound::Server;
using std::chrono::hours;
using std::chrono::seconds;
using test::RawServer;

namespace {

// A token endpoint, and the credentials of a server whose card names it.
struct Endpoint {
  explicit Endpoint(Server::Exchange exchange) {
    server.auth = Server::Auth::oauth;
    server.exchange = exchange;
    server.client_id = "me";
    server.secret_env = "CREDENTIALS_TEST_SECRET";
    server.token_url = tokens.url();
    setenv("CREDENTIALS_TEST_SECRET", "s3cret-words", 1);
    rules.policy.allow_private = true;
  }
  std::shared_ptr<Credentials> credentials() const { return std::make_shared<Credentials>(server, rules); }

  std::string body = R"({"access_token":"the-same-one","expires_in":0})";
  std::string status = "200 OK";
  RawServer tokens{[this](RawServer&, int connection) {
    RawServer::say(connection, "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) +
                                   "\r\n\r\n" + body);
  }};
  Server server;
  outbound::Rules rules;
};

task::SubjectTokenPtr subject(const std::string& text, seconds life = hours(1)) {
  return std::make_shared<const task::SubjectToken>(
      task::SubjectToken{text, base::SystemClock().now() + life});
}

}  // namespace

TEST_CASE("Credentials: an endpoint may give the same token again") {
  const Endpoint endpoint(Server::Exchange::none);
  const auto credentials = endpoint.credentials();
  for (int i = 0; i < 3; ++i) CHECK(credentials->find(-1, false).value() == "the-same-one");
  CHECK(endpoint.tokens.connections() == 3);
  CHECK(credentials->of(subject("ann")) == credentials);
  CHECK(credentials->mask()->masked("the-same-one") == "***");
}

TEST_CASE("Credentials: the life of a token may be a string, as Entra ID's v1 endpoint writes it") {
  Endpoint endpoint(Server::Exchange::none);
  for (const char* life : {"0", "\"0\"", "-1", "\"-1\""}) {
    CAPTURE(life);
    endpoint.body =
        R"({"access_token":"a-brief-one","token_type":"bearer","expires_in":)" + std::string(life) + "}";
    const auto credentials = endpoint.credentials();
    CHECK(credentials->find(-1, false).value() == "a-brief-one");
    CHECK_FALSE(credentials->at_hand());
  }
  for (const char* life : {"3599", "\"3599\"", "3599.0", "null", "\"soon\"", "\"\""}) {
    CAPTURE(life);
    endpoint.body = R"({"access_token":"a-longer-one","expires_in":)" + std::string(life) + "}";
    const auto credentials = endpoint.credentials();
    CHECK(credentials->find(-1, false).value() == "a-longer-one");
    CHECK(credentials->at_hand());
  }
}

TEST_CASE("Credentials: an error with status 200, as GitHub sends it, is shown in the server's words") {
  Endpoint endpoint(Server::Exchange::none);
  endpoint.body = R"({"error":"incorrect_client_credentials","error_description":"They are not right"})";
  const auto token = endpoint.credentials()->find(-1, false);
  REQUIRE_FALSE(token);
  CHECK(token.error().text.find("incorrect_client_credentials: They are not right") != std::string::npos);
  CHECK_FALSE(token.error().may_come);
}

TEST_CASE("Credentials: a turn that looked before another's token came uses that token") {
  Endpoint endpoint(Server::Exchange::none);
  endpoint.body = R"({"access_token":"the-only-one"})";
  const auto credentials = endpoint.credentials();
  base::EventLoop loop("tokens");
  std::vector<std::string> tokens;
  const auto fetch = [&] {
    return credentials->fetch(loop, false, [&](const auto& token) { tokens.push_back(token.value()); });
  };
  // Both look, on threads of their own, before either asks.
  for (int i = 0; i < 2; ++i) CHECK_FALSE(credentials->at_hand());
  const auto first = fetch();
  loop.run_here([&] { return !tokens.empty(); });
  const auto second = fetch();
  loop.run_here([&] { return tokens.size() == 2; });
  CHECK(tokens == std::vector<std::string>{"the-only-one", "the-only-one"});
  CHECK(endpoint.tokens.connections() == 1);
}

TEST_CASE("Credentials: a token that is got for a caller serves that caller's token only") {
  Endpoint endpoint(Server::Exchange::token_exchange);
  endpoint.body = R"({"access_token":"for-ann-only","issued_token_type":"urn:x:access_token"})";
  const auto all = endpoint.credentials();
  CHECK(all->find(-1, false).value() == "");
  CHECK(all->at_hand()->value() == "");
  const auto of_ann = all->of(subject("ann's one"));
  CHECK(of_ann->find(-1, false).value() == "for-ann-only");
  endpoint.body = R"({"access_token":"for-bob-only"})";
  CHECK(all->of(subject("bob's one"))->find(-1, false).value() == "for-bob-only");
  // The same token has the same credentials; so many callers at once make one request.
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back(
        [&] { CHECK(all->of(subject("ann's one"))->find(-1, false).value() == "for-ann-only"); });
  for (std::thread& thread : threads) thread.join();
  CHECK(endpoint.tokens.connections() == 2);
  CHECK(of_ann->mask()->masked("for-ann-only for-bob-only") == "*** for-bob-only");
  CHECK(all->mask() == nullptr);
  CHECK(of_ann->of(subject("bob's one")) == of_ann);
}

TEST_CASE("Credentials: without a valid token of its own a caller is asked for one, and nothing is sent") {
  Endpoint endpoint(Server::Exchange::token_exchange);
  const auto all = endpoint.credentials();
  for (const auto& none : {task::SubjectTokenPtr(), subject("ann's one", seconds(-1))}) {
    const auto token = all->of(none)->find(-1, false);
    REQUIRE_FALSE(token);
    CHECK_FALSE(token.error().may_come);
    REQUIRE(token.error().asks);
    CHECK(token.error().asks->text.find("Authorization") != std::string::npos);
    CHECK(token.error().asks->url.empty());
  }
  CHECK(endpoint.tokens.connections() == 0);
}

TEST_CASE("Credentials: a refused exchange asks the caller if it is about the caller, else it is an error") {
  Endpoint endpoint(Server::Exchange::on_behalf_of);
  endpoint.server.authorize_url = "https://id/consent";
  endpoint.status = "400 Bad Request";
  const auto all = endpoint.credentials();
  for (const char* error : {"invalid_grant", "interaction_required", "invalid_request"}) {
    endpoint.body =
        R"({"error":")" + std::string(error) + R"(","error_description":"ann's one is not good"})";
    const auto token = all->of(subject("ann's one"))->find(-1, false);
    REQUIRE_FALSE(token);
    REQUIRE(token.error().asks);
    CHECK(token.error().asks->url == "https://id/consent");
    CHECK(token.error().asks->text.find("ann's one") == std::string::npos);
  }
  for (const char* error : {"invalid_client", "invalid_scope", "access_denied", "unauthorized_client"}) {
    endpoint.body = R"({"error":")" + std::string(error) + "\"}";
    const auto token = all->of(subject("ann's one"))->find(-1, false);
    REQUIRE_FALSE(token);
    CHECK_FALSE(token.error().asks);
  }
  endpoint.status = "503 Busy";
  endpoint.body = R"({"error":"invalid_grant"})";
  const auto busy = all->of(subject("ann's one"))->find(-1, false);
  CHECK(busy.error().may_come);
  CHECK_FALSE(busy.error().asks);
  endpoint.status = "200 OK";
  for (const char* body : {R"({"access_token":"a1","issued_token_type":"urn:x:refresh_token"})",
                           R"({"access_token":"a1","token_type":"N_A"})"}) {
    endpoint.body = body;
    CHECK_FALSE(all->of(subject("ann's one"))->find(-1, false));
  }
  CHECK(all->of(subject("ann's one"))->ask_after_refusal()->url == "https://id/consent");
  CHECK_FALSE(all->ask_after_refusal());
}

}  // namespace credentials_test
