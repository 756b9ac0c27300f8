#include "client/endpoint.h"

#include <doctest/doctest.h>

#include "protocol/card/remote_card.h"

namespace baton::client::endpoint_test {
namespace {

TEST_CASE("RemoteEndpoint: an agent's URL is below the server's, with its name percent-encoded") {
  CHECK(endpoint_url("http://h:1", "") == "http://h:1/");
  CHECK(endpoint_url("http://h:1//", "") == "http://h:1/");
  CHECK(endpoint_url("http://h:1/base/", "echo") == "http://h:1/base/agents/echo");
  CHECK(endpoint_url("http://h:1", "a/../b c?") == "http://h:1/agents/a%2F..%2Fb%20c%3F");
}

TEST_CASE("RemoteEndpoint: a call over gRPC that a proxy would serve fails and says so") {
  Remote remote;
  remote.url = "far.example.org:443";
  remote.over_grpc.emplace();
  remote.dialect = protocol::a2a::client_dialect(task::ProtocolVersion::v1_0, protocol::Binding::rest);
  remote.access.proxy.url = "http://proxy.example.org:3128";
  protocol::a2a::ClientRequest request;
  const auto result = RemoteEndpoint(remote).call(request, std::chrono::seconds(5));
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().text.starts_with("gRPC goes through no proxy"));
  CHECK_FALSE(result.error().lost);
}

}  // namespace
}  // namespace baton::client::endpoint_test
