#include "protocol/a2a/errors.h"

#include <doctest/doctest.h>

#include "protocol/rpc/json_rpc.h"

namespace errors_test {

using namespace baton;
using base::Error;
using base::ErrorCode;

namespace {

std::string rpc(const Error& error, const std::string& task = {}) {
  std::string out;
  protocol::a2a::write_rpc_error_v1(out, "1", error, {task});
  return out;
}

std::string rest(const Error& error, const std::string& task = {}) {
  std::string out;
  protocol::a2a::write_rest_error_v1(out, error, {task}, protocol::a2a::rest_status(error));
  return out;
}

std::string rest_v0_3(const Error& error) {
  std::string out;
  protocol::a2a::write_rest_error_v0_3(out, error);
  return out;
}

const std::string kNotFoundInfo =
    R"({"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND",)"
    R"("domain":"a2a-protocol.org","metadata":{"taskId":"t1"}})";

}  // namespace

TEST_CASE("A2A errors: an unknown task gives the error of section 12 of the reference") {
  const Error error{ErrorCode::task_not_found, "task not found", {}};
  CHECK(rpc(error, "t1") ==
        R"({"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"Task not found","data":[)" +
            kNotFoundInfo + "]}}");
  CHECK(rest(error, "t1") ==
        R"({"error":{"code":404,"status":"NOT_FOUND","message":"Task not found","details":[)" +
            kNotFoundInfo + "]}}");
  CHECK(rest_v0_3({ErrorCode::task_not_found, {}, {}}) == R"({"code":-32001,"message":"Task not found"})");
}

TEST_CASE("A2A errors: the problem of a member is a field violation") {
  const std::string bad_request =
      R"({"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[)"
      R"({"field":"message.parts","description":"must not be empty"}]})";
  for (const char* text : {"message.parts: must not be empty", "params.message.parts: must not be empty"}) {
    const Error error{ErrorCode::invalid_argument, text, {}};
    for (const std::string& said : {rpc(error), rest(error)}) {
      CHECK(
          said.ends_with(R"("reason":"INVALID_PARAMS","domain":"a2a-protocol.org"},)" + bad_request + "]}}"));
    }
  }
}

TEST_CASE("A2A errors: wrong parameters without a member have no field violation") {
  const Error error{ErrorCode::invalid_argument, "the task is in another context: ask again", {}};
  CHECK(rpc(error) == R"({"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":)"
                      R"("Invalid parameters: the task is in another context: ask again","data":[)"
                      R"({"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"INVALID_PARAMS",)"
                      R"("domain":"a2a-protocol.org"}]}})");
  CHECK(rest(error).find("BadRequest") == std::string::npos);
}

TEST_CASE("A2A errors: envelope errors also have the details of 1.0, with the wrong member") {
  for (const ErrorCode code : {ErrorCode::parse_error, ErrorCode::method_not_found, ErrorCode::internal}) {
    CHECK(rpc({code, {}, {}}).find(R"("data":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo")") !=
          std::string::npos);
  }
  const std::string said = rpc({ErrorCode::invalid_request, "jsonrpc: must be \"2.0\"", {}});
  CHECK(said.find(R"("code":-32600)") != std::string::npos);
  CHECK(said.find(R"("field":"jsonrpc")") != std::string::npos);
}

TEST_CASE("A2A errors: an error without an A2A code has its message, and internal details are hidden") {
  CHECK(rest({ErrorCode::overloaded, "try again later", {}}) ==
        R"({"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"try again later","details":[)"
        R"({"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"RESOURCE_EXHAUSTED",)"
        R"("domain":"a2a-protocol.org"},)"
        R"({"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1s"}]}})");
  CHECK(rpc({ErrorCode::internal, {}, "secret"}).find("secret") == std::string::npos);
}

TEST_CASE("A2A errors: numbers whose meaning changed have that of 1.0, with its reason") {
  const auto has = [](ErrorCode code, const std::string& number, const std::string& reason) {
    const std::string text = rpc({code, {}, {}});
    return text.find("\"code\":" + number + ",") != std::string::npos &&
           text.find("\"reason\":\"" + reason + "\"") != std::string::npos;
  };
  CHECK(has(ErrorCode::extended_card_not_configured, "-32007", "EXTENDED_AGENT_CARD_NOT_CONFIGURED"));
  CHECK(has(ErrorCode::extension_required, "-32008", "EXTENSION_SUPPORT_REQUIRED"));
  CHECK(has(ErrorCode::version_not_supported, "-32009", "VERSION_NOT_SUPPORTED"));
}

TEST_CASE("A2A errors: REST statuses are those of v1.0.1") {
  const auto status = [](ErrorCode code) { return protocol::a2a::rest_status({code, {}, {}}); };
  CHECK(status(ErrorCode::task_not_found) == 404);
  CHECK(status(ErrorCode::method_not_found) == 404);
  for (const ErrorCode code :
       {ErrorCode::parse_error, ErrorCode::invalid_request, ErrorCode::invalid_argument,
        ErrorCode::not_cancelable, ErrorCode::push_not_supported, ErrorCode::unsupported,
        ErrorCode::content_type_not_supported, ErrorCode::version_not_supported,
        ErrorCode::extension_required, ErrorCode::extended_card_not_configured}) {
    CHECK(status(code) == 400);
  }
  CHECK(status(ErrorCode::unauthenticated) == 401);
  CHECK(status(ErrorCode::permission_denied) == 403);
  CHECK(status(ErrorCode::too_large) == 413);
  CHECK(status(ErrorCode::overloaded) == 429);
  CHECK(status(ErrorCode::unavailable) == 503);
  CHECK(status(ErrorCode::internal) == 500);
}

TEST_CASE("A2A errors: REST errors of 1.0 are a google.rpc.Status, those of 0.3 a code and a message") {
  CHECK(rest({ErrorCode::not_cancelable, {}, {}}).starts_with(R"({"error":{"code":400,"status":)"));
  CHECK(rest_v0_3({ErrorCode::invalid_argument, "message: must be an object", {}}) ==
        R"({"code":-32602,"message":"Invalid parameters","data":{"detail":"message: must be an object"}})");
}

}  // namespace errors_test
