#include "server/grpc/base64_files.h"

#include <doctest/doctest.h>

namespace baton::server::grpc::base64_files_test {
namespace {

TEST_CASE("gRPC files: clients whose SDKs have text for bytes are recognised by their user agent") {
  CHECK(has_base64_text("grpc-python/1.51.1 grpc-c/29.0.0 (linux; chttp2)"));
  CHECK(has_base64_text("grpc-python-asyncio/1.60.0 grpc-c/37.0.0 (linux; chttp2)"));
  CHECK(has_base64_text("my-app/2 grpc-go/1.60.0"));
  CHECK(has_base64_text("grpc-java-netty/1.60.0"));
  CHECK(has_base64_text("my-app grpc-java-okhttp/1.60.0"));
  CHECK_FALSE(has_base64_text("grpc-node-js/1.10.0"));
  CHECK_FALSE(has_base64_text("grpc-c++/1.51.1 grpc-c/29.0.0"));
  CHECK_FALSE(has_base64_text("not-grpc-go/1.0 grpc-goblin/2 grpc-java/1"));
  CHECK_FALSE(has_base64_text(""));
}

}  // namespace
}  // namespace baton::server::grpc::base64_files_test
