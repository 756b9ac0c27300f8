#include "app/sign_in_provider.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <string>

#include "support/manual_clock.h"
#include "unit/outbound/raw_server.h"

namespace sign_in_provider_test {

using namespace baton;
using namespace std::chrono_literals;
using test::RawServer;

namespace {

std::string issuer_at(const RawServer& server) {
  const std::string hook = server.url();
  return hook.substr(0, hook.rfind('/'));
}

}  // namespace

TEST_CASE("SignInProvider: the last discovery document serves for a day while no new one can be fetched") {
  std::atomic<bool> is_down = false;
  const RawServer server([&](const RawServer& self, int connection) {
    const std::string url = issuer_at(self);
    const std::string body =
        R"({"issuer":")" + url + R"(","authorization_endpoint":")" + url + R"(/authorize"})";
    RawServer::say(connection, std::string(is_down ? "HTTP/1.1 503 Service Unavailable" : "HTTP/1.1 200 OK") +
                                   "\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) +
                                   "\r\n\r\n" + body);
  });
  const std::string there = issuer_at(server) + "/authorize";
  test::ManualClock steady;
  outbound::CallCounts counts;
  app::SignInProvider provider(steady, {}, counts);
  app::SignInOptions options;
  options.issuer = issuer_at(server);
  provider.set(options);
  const auto place = [&] {
    const auto endpoint = provider.endpoint();
    return endpoint ? endpoint->url : std::string("none");
  };
  // Without any document the failure counts, and another attempt is made soon.
  is_down = true;
  CHECK(place() == "none");
  is_down = false;
  CHECK(place() == "none");
  steady.advance(5s);
  CHECK(place() == there);

  is_down = true;
  steady.advance(1h);
  CHECK_FALSE(provider.known_endpoint());
  CHECK(place() == there);
  CHECK(provider.known_endpoint());
  steady.advance(60s);
  CHECK_FALSE(provider.known_endpoint());
  steady.advance(23h);
  CHECK(place() == "none");
  is_down = false;
  steady.advance(5s);
  CHECK(place() == there);
  // The document of another issuer does not serve.
  is_down = true;
  options.issuer += "/other";
  provider.set(options);
  CHECK(place() == "none");
}

}  // namespace sign_in_provider_test
