#include "grpc/base64_files.h"

#include <doctest/doctest.h>

#include "wire/base64.h"

namespace baton::grpc::base64_files_test {
namespace {

std::string request_with(const std::string& field) {
  return R"({"message":{"messageId":"m","content":[{"text":"x"},{"file":{"mimeType":"a/b","fileWithBytes":")" +
         field + R"("}}]},"metadata":{"fileWithBytes":"YVFHaz0="}})";
}

TEST_CASE("gRPC files: bytes that are base64 text are what the text stands for") {
  const std::string text = wire::encode_base64(std::string("\x00\xff binary", 9));
  CHECK(with_files_decoded(request_with(wire::encode_base64(text))) == request_with(text));
}

TEST_CASE("gRPC files: bytes that are anything else stay as they are") {
  for (const char* bytes : {"plain text", "abc", "YWI", "YW-_", "a b=", "\xff\xfe", ""}) {
    CAPTURE(bytes);
    const std::string request = request_with(wire::encode_base64(bytes));
    CHECK(with_files_decoded(request) == request);
  }
  for (const char* request :
       {"{}", "no JSON fileWithBytes", R"({"message":{"content":[{"file":"fileWithBytes"}]}})",
        R"({"message":{"content":[{"file":{"fileWithBytes":5}}]}})"}) {
    CHECK(with_files_decoded(request) == request);
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
}  // namespace baton::grpc::base64_files_test
