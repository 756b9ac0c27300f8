#include "client/endpoint.h"

#include <doctest/doctest.h>

namespace baton::client::endpoint_test {
namespace {

TEST_CASE("RemoteEndpoint: an agent's URL is below the server's, with its name percent-encoded") {
  CHECK(endpoint_url("http://h:1", "") == "http://h:1/");
  CHECK(endpoint_url("http://h:1//", "") == "http://h:1/");
  CHECK(endpoint_url("http://h:1/base/", "echo") == "http://h:1/base/agents/echo");
  CHECK(endpoint_url("http://h:1", "a/../b c?") == "http://h:1/agents/a%2F..%2Fb%20c%3F");
}

}  // namespace
}  // namespace baton::client::endpoint_test
