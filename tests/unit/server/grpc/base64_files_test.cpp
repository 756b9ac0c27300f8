#include "server/grpc/base64_files.h"

#include <doctest/doctest.h>

#include "base/base64.h"

namespace baton::server::grpc::base64_files_test {
namespace {

TEST_CASE("gRPC files: bytes that are base64 text are what the text stands for") {
  const std::string text = base::encode_base64(std::string("\x00\xff binary", 9));
  CHECK(base64_of_file(text, true) == text);
  CHECK(base64_of_file(text, false) == base::encode_base64(text));
}

TEST_CASE("gRPC files: bytes that are anything else stay as they are") {
  for (const char* bytes : {"plain text", "abc", "YWI", "YW-_", "a b=", "\xff\xfe", ""}) {
    CAPTURE(bytes);
    CHECK(base64_of_file(bytes, true) == base::encode_base64(bytes));
  }
}

TEST_CASE("gRPC files: only the languages whose SDKs send text are suspected of it") {
  CHECK(may_send_base64_text("grpc-python/1.51.1 grpc-c/29.0.0 (linux; chttp2)"));
  CHECK(may_send_base64_text("grpc-python-asyncio/1.60.0 grpc-c/37.0.0 (linux; chttp2)"));
  CHECK(may_send_base64_text("my-app/2 grpc-go/1.60.0"));
  CHECK(may_send_base64_text("grpc-java-netty/1.60.0"));
  CHECK_FALSE(may_send_base64_text("grpc-node-js/1.10.0"));
  CHECK_FALSE(may_send_base64_text("grpc-c++/1.51.1 grpc-c/29.0.0"));
  CHECK_FALSE(may_send_base64_text(""));
}

}  // namespace
}  // namespace baton::server::grpc::base64_files_test
