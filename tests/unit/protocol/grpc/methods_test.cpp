#include "protocol/grpc/methods.h"

#include <doctest/doctest.h>

namespace baton::protocol::grpc::methods_test {
namespace {

TEST_CASE("gRPC methods: a path names one method of one version, or is unknown") {
  const Method* old = find_method("/a2a.v1.A2AService/GetTask");
  const Method* now = find_method("/lf.a2a.v1.A2AService/GetTask");
  REQUIRE(old);
  REQUIRE(now);
  CHECK(old->version == task::ProtocolVersion::v0_3);
  CHECK(now->version == task::ProtocolVersion::v1_0);
  CHECK(old->full(old->response) == "a2a.v1.Task");
  CHECK(now->full(now->response) == "lf.a2a.v1.Task");
  CHECK(now->full("google.protobuf.Empty") == "google.protobuf.Empty");
  for (const char* path :
       {"", "/", "a2a.v1.A2AService/GetTask", "/a2a.v1.A2AService/ListTasks", "/a2a.v1.A2AService/GetTasks",
        "/lf.a2a.v1.A2AService/GetAgentCard", "/a2a.v2.A2AService/GetTask", "/lf.a2a.v1.A2AServic/GetTask"}) {
    CAPTURE(path);
    CHECK(find_method(path) == nullptr);
  }
}

}  // namespace
}  // namespace baton::protocol::grpc::methods_test
