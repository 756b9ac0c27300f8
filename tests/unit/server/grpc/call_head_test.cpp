#include "server/grpc/call_head.h"

#include <doctest/doctest.h>

namespace baton::server::grpc::call_head_test {
namespace {

TEST_CASE("gRPC head: A2A metadata become headers, and one of them names the agent") {
  const auto head = head_of({{"authorization", "Bearer x"},
                             {"a2a-version", "1.0"},
                             {"x-a2a-extensions", "u"},
                             {"host", "elsewhere"},
                             {"baton-agent", "table report"}},
                            "desk");
  REQUIRE(head);
  CHECK(head->header("Authorization") == "Bearer x");
  CHECK(head->header("A2A-Version") == "1.0");
  CHECK(head->header("X-A2A-Extensions") == "u");
  CHECK(head->header("Host").empty());
  CHECK(head->raw_path == "/agents/table report");
  CHECK(head_of({{"x-api-key", "k"}}, "desk")->headers.empty());
  CHECK(head_of({{"x-api-key", "k"}}, "desk", "X-API-Key")->header("x-api-key") == "k");
  CHECK(head_of({}, "desk")->path == "/agents/desk");
  for (const auto& refused : {head_of({{"baton-agent", "a/tasks"}}, "desk"), head_of({}, "")}) {
    REQUIRE(!refused);
    CHECK(refused.error().code == base::ErrorCode::not_found);
  }
}

}  // namespace
}  // namespace baton::server::grpc::call_head_test
