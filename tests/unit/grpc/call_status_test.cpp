#include "grpc/call_status.h"

#include <doctest/doctest.h>

#include "wire/json/document.h"

namespace baton::grpc::call_status_test {
namespace {

using base::ErrorCode;
using task::Generation;

CallStatus status_for(Generation generation, const base::Error& error) {
  const RestError said = rest_error(generation, error);
  return status_of(generation, said.http_status, said.body);
}

std::string reason_in(const CallStatus& status) {
  const auto details = wire::Document::parse_view(status.details);
  REQUIRE(details.has_value());
  CHECK(details->root()["code"].integer() == static_cast<int>(status.code));
  CHECK(details->root()["message"].string() == status.message);
  for (const wire::Value detail : details->root()["details"]) return detail["reason"].str();
  return {};
}

TEST_CASE("gRPC status: every error of A2A has the code of 1.0, and in 0.3 what its clients know") {
  struct Row {
    ErrorCode error;
    Code v1_0, v0_3;
    std::string_view reason;
  };
  for (const Row& row : {
           Row{ErrorCode::task_not_found, Code::not_found, Code::not_found, "TASK_NOT_FOUND"},
           Row{ErrorCode::not_cancelable, Code::failed_precondition, Code::failed_precondition,
               "TASK_NOT_CANCELABLE"},
           Row{ErrorCode::push_not_supported, Code::failed_precondition, Code::unimplemented,
               "PUSH_NOTIFICATION_NOT_SUPPORTED"},
           Row{ErrorCode::unsupported, Code::failed_precondition, Code::unimplemented,
               "UNSUPPORTED_OPERATION"},
           Row{ErrorCode::content_type_not_supported, Code::invalid_argument, Code::invalid_argument,
               "CONTENT_TYPE_NOT_SUPPORTED"},
           Row{ErrorCode::extended_card_not_configured, Code::failed_precondition, Code::failed_precondition,
               "EXTENDED_AGENT_CARD_NOT_CONFIGURED"},
           Row{ErrorCode::extension_required, Code::failed_precondition, Code::failed_precondition,
               "EXTENSION_SUPPORT_REQUIRED"},
           Row{ErrorCode::version_not_supported, Code::failed_precondition, Code::failed_precondition,
               "VERSION_NOT_SUPPORTED"},
           Row{ErrorCode::invalid_argument, Code::invalid_argument, Code::invalid_argument, "INVALID_PARAMS"},
           Row{ErrorCode::internal, Code::internal, Code::internal, "INTERNAL_ERROR"},
       }) {
    CAPTURE(row.reason);
    const CallStatus now = status_for(Generation::v1_0, {row.error, "why", {}});
    const CallStatus old = status_for(Generation::v0_3, {row.error, "why", {}});
    CHECK(now.code == row.v1_0);
    CHECK(old.code == row.v0_3);
    CHECK(reason_in(now) == row.reason);
    CHECK(reason_in(old) == row.reason);
    CHECK(now.message.find("why") != std::string::npos);
    CHECK(old.message.find("why") != std::string::npos);
  }
}

TEST_CASE("gRPC status: access and load are the same in every generation") {
  for (const Generation generation : {Generation::v0_3, Generation::v1_0}) {
    const auto code = [&](ErrorCode error) { return status_for(generation, {error, "why", {}}).code; };
    CHECK(code(ErrorCode::unauthenticated) == Code::unauthenticated);
    CHECK(code(ErrorCode::permission_denied) == Code::permission_denied);
    CHECK(code(ErrorCode::too_large) == Code::resource_exhausted);
    CHECK(code(ErrorCode::overloaded) == Code::resource_exhausted);
    CHECK(code(ErrorCode::unavailable) == Code::unavailable);
    CHECK(code(ErrorCode::deadline_exceeded) == Code::deadline_exceeded);
  }
}

TEST_CASE("gRPC status: a message says everything once") {
  const auto said = [](ErrorCode error, const char* why) {
    return status_for(Generation::v0_3, {error, why, {}}).message;
  };
  CHECK(said(ErrorCode::task_not_found, "task not found") == "Task not found");
  CHECK(said(ErrorCode::task_not_found, "") == "Task not found");
  CHECK(said(ErrorCode::invalid_argument, "x: too long") == "Invalid parameters: x: too long");
  const CallStatus access =
      status_for(Generation::v0_3, {ErrorCode::unauthenticated, "a token is needed", {}});
  CHECK(access.message == "a token is needed");
  CHECK(reason_in(access) == "UNAUTHENTICATED");
}

TEST_CASE("gRPC status: overload says when to come back, in every generation") {
  for (const Generation generation : {Generation::v0_3, Generation::v1_0}) {
    const std::string details =
        status_for(generation, {ErrorCode::overloaded, "the queue is full", {}}).details;
    CHECK(details.find(R"(google.rpc.RetryInfo","retryDelay":"1s")") != std::string::npos);
  }
}

TEST_CASE("gRPC status: an answer of the router itself, and one that is no JSON") {
  const CallStatus router = status_of(Generation::v1_0, 404, "{\"error\":\"no such agent\"}\n");
  CHECK(router.code == Code::not_found);
  CHECK(router.message == "no such agent");
  CHECK(router.details.empty());
  CHECK(status_of(Generation::v0_3, 500, "oops").code == Code::internal);
  CHECK(status_of(Generation::v0_3, 302, "").code == Code::internal);
  CHECK(status_of(Generation::v0_3, 400, R"({"code":-32001.5})").code == Code::invalid_argument);
}

}  // namespace
}  // namespace baton::grpc::call_status_test
