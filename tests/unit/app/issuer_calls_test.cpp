#include "app/issuer_calls.h"

#include <doctest/doctest.h>

#include <functional>

#include "unit/outbound/raw_server.h"

namespace issuer_calls_test {

using namespace baton;
using test::RawServer;

namespace {

// An authorization server. `say` decides its answer to each path.
class Issuer {
 public:
  struct Answer {
    std::string status, body;
  };
  explicit Issuer(std::function<Answer(std::string_view request)> say) : say_(std::move(say)) {}

  std::string url() const {
    const std::string hook = server_.url();
    return hook.substr(0, hook.rfind('/'));
  }
  const app::IssuerCalls& calls() const { return calls_; }
  const std::string& requests() const { return server_.requests(); }

 private:
  const std::function<Answer(std::string_view)> say_;
  RawServer server_{[this](RawServer& server, int connection) {
    const std::string_view all = server.requests();
    const Answer answer = say_(all.substr(all.rfind("GET ")));
    RawServer::say(connection, "HTTP/1.1 " + answer.status + "\r\nConnection: close\r\nContent-Length: " +
                                   std::to_string(answer.body.size()) + "\r\n\r\n" + answer.body);
  }};
  outbound::CallCounts counts_;
  const app::IssuerCalls calls_{{}, counts_, -1};
};

constexpr const char* kOk = "200 OK";
constexpr const char* kOpenId = "/.well-known/openid-configuration ";
constexpr const char* kOauth = "/.well-known/oauth-authorization-server ";

bool is_for(std::string_view request, std::string_view path) {
  return request.substr(0, request.find('\r')).find(path) != std::string_view::npos;
}

}  // namespace

TEST_CASE("IssuerCalls: keys are read from Kubernetes, which serves them only as their own media type") {
  const Issuer issuer([](std::string_view request) -> Issuer::Answer {
    const bool takes_it = request.find("application/jwk-set+json") != std::string_view::npos;
    return takes_it ? Issuer::Answer{kOk, R"({"keys":[]})"} : Issuer::Answer{"406 Not Acceptable", "{}"};
  });
  const auto keys = issuer.calls().get(issuer.url() + "/openid/v1/jwks", issuer.url());
  REQUIRE(keys);
  CHECK(keys->body == R"({"keys":[]})");
}

TEST_CASE("IssuerCalls: a refusal has the server's words, so that an operator sees what is wrong") {
  const Issuer issuer([](std::string_view) -> Issuer::Answer {
    return {"401 Unauthorized", R"({"error":"invalid_client","error_description":"Unknown client"})"};
  });
  const auto refused = issuer.calls().get(issuer.url() + "/token", issuer.url());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().for_caller.starts_with("it answers with HTTP status 401: "));
  CHECK(refused.error().for_caller.find("Unknown client") != std::string::npos);
}

TEST_CASE("IssuerCalls: after a document that is not JSON, or is another issuer's, the next one is tried") {
  std::string open_id, oauth;
  const Issuer issuer([&](std::string_view request) -> Issuer::Answer {
    if (is_for(request, kOpenId)) return {kOk, open_id};
    if (is_for(request, kOauth)) return {kOk, oauth};
    return {"404 Not Found", "{}"};
  });
  const auto naming = [](const std::string& url) { return R"({"issuer":")" + url + R"("})"; };
  const auto reason = [&] {
    const auto found = issuer.calls().describe(issuer.url());
    return found ? std::string() : found.error().for_caller;
  };
  oauth = naming(issuer.url());
  for (const std::string& other :
       {std::string("<!doctype html>"), naming(issuer.url() + "/"), std::string("7")}) {
    open_id = other;
    CHECK(issuer.calls().describe(issuer.url()).value() == oauth);
  }
  oauth = "<!doctype html>";
  CHECK(reason() == "its discovery document names no issuer");
  open_id = naming("https://id.example/{tenantid}/v2.0");
  CHECK(reason() == "its discovery document names another issuer: https://id.example/{tenantid}/v2.0");
  open_id = oauth;
  CHECK(reason() == "its discovery document is not JSON");
  open_id = naming(issuer.url());
  CHECK(issuer.calls().describe(issuer.url()).value() == open_id);
}

}  // namespace issuer_calls_test
