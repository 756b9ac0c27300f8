#include "protocol/rpc/json_rpc.h"

#include <doctest/doctest.h>

namespace json_rpc_test {

using namespace baton;
using base::ErrorCode;
using json::Document;

namespace {

struct Read {
  std::string id;
  std::string method;
  std::optional<ErrorCode> refused;
};

Read read(const std::string& text) {
  const auto document = Document::parse(text);
  REQUIRE(document);
  const auto request = protocol::read_rpc_request(document->root());
  if (!request) return {request.error().id, {}, request.error().error.code};
  return {request->id, request->method, std::nullopt};
}

}  // namespace

TEST_CASE("JSON-RPC: ids of every legal type are returned as they were written") {
  CHECK(read(R"({"jsonrpc":"2.0","id":"a\u00e9","method":"m"})").id == R"("a\u00e9")");
  CHECK(read(R"({"jsonrpc":"2.0","id":12345678901234567890,"method":"m"})").id == "12345678901234567890");
  CHECK(read(R"({"jsonrpc":"2.0","id":1.50,"method":"m"})").id == "1.50");
  CHECK(read(R"({"jsonrpc":"2.0","id":null,"method":"m"})").id == "null");
  CHECK(read(R"({"jsonrpc":"2.0","method":"m"})").id == "null");
}

TEST_CASE("JSON-RPC: anything but a request is refused, with the id if it could be read") {
  const auto refused = [](const std::string& text, const std::string& id, ErrorCode code) {
    CAPTURE(text);
    const Read result = read(text);
    REQUIRE(result.refused);
    CHECK(*result.refused == code);
    CHECK(result.id == id);
  };
  refused("[]", "null", ErrorCode::invalid_request);
  refused(R"([{"jsonrpc":"2.0","id":1,"method":"m"}])", "null", ErrorCode::invalid_request);
  refused("5", "null", ErrorCode::invalid_request);
  refused("{}", "null", ErrorCode::invalid_request);
  refused(R"({"id":{},"method":"m"})", "null", ErrorCode::invalid_request);
  refused(R"({"id":[1],"method":"m"})", "null", ErrorCode::invalid_request);
  refused(R"({"id":true,"method":"m"})", "null", ErrorCode::invalid_request);
  refused("{\"id\":\"" + std::string(2000, 'x') + "\",\"method\":\"m\"}", "null", ErrorCode::invalid_request);
  refused(R"({"id":1,"method":5})", "1", ErrorCode::invalid_request);
  refused(R"({"id":1,"jsonrpc":"1.0","method":"m"})", "1", ErrorCode::invalid_request);
  for (const char* params : {"5", "true", "\"x\"", "[]"}) {
    refused(std::string(R"({"id":1,"method":"m","params":)") + params + "}", "1",
            ErrorCode::invalid_argument);
  }
  refused(R"({"id":1,"method":"m","method":"n"})", "1", ErrorCode::invalid_request);
  refused(R"({"id":1,"id":2,"method":"m"})", "2", ErrorCode::invalid_request);
}

TEST_CASE("JSON-RPC: a request has a mark for 2.0, which some methods may leave out") {
  const auto says = [](const char* text) {
    const auto document = Document::parse(text);
    REQUIRE(document);
    return protocol::read_rpc_request(document->root()).value().says_2_0;
  };
  CHECK(says(R"({"jsonrpc":"2.0","method":"m"})"));
  CHECK_FALSE(says(R"({"method":"m"})"));
}

TEST_CASE("JSON-RPC: overload, an unavailable store and an internal error have their own numbers") {
  CHECK(protocol::rpc_code_of(ErrorCode::overloaded).number == 429);
  CHECK(protocol::rpc_code_of(ErrorCode::unavailable).number == 503);
  CHECK(protocol::rpc_code_of(ErrorCode::internal).number == -32603);
  std::string out;
  protocol::write_rpc_error(out, "1", {ErrorCode::overloaded, "the queue is full", {}});
  CHECK(out == R"({"jsonrpc":"2.0","id":1,"error":{"code":429,"message":"Too many requests",)"
               R"("data":{"detail":"the queue is full","retryAfter":1}}})");
}

TEST_CASE("JSON-RPC: errors have the canonical text and the detail in separate members") {
  std::string out;
  protocol::write_rpc_error(out, "7", {ErrorCode::task_not_found, {}, "secret"});
  CHECK(out == R"({"jsonrpc":"2.0","id":7,"error":{"code":-32001,"message":"Task not found"}})");
  out.clear();
  protocol::write_rpc_error(out, "null", {ErrorCode::invalid_argument, "params.id: must be a string", {}});
  CHECK(out == R"({"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"Invalid parameters",)"
               R"("data":{"detail":"params.id: must be a string"}}})");
}

}  // namespace json_rpc_test
