#include "server/grpc/call_status.h"

#include <doctest/doctest.h>

namespace baton::server::grpc::call_status_test {
namespace {

using base::ErrorCode;
using task::ProtocolVersion;

TEST_CASE("gRPC status: every A2A error has its code of 1.0, and in 0.3 one that its clients know") {
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
    const CallStatus now = status_of(ProtocolVersion::v1_0, {row.error, "why", {}});
    const CallStatus old = status_of(ProtocolVersion::v0_3, {row.error, "why", {}});
    CHECK(now.code == row.v1_0);
    CHECK(old.code == row.v0_3);
    CHECK(now.reason == row.reason);
    CHECK(old.reason == row.reason);
    CHECK(now.message.find("why") != std::string::npos);
    CHECK(old.message.find("why") != std::string::npos);
  }
}

TEST_CASE("gRPC status: access and load are the same in every version") {
  for (const ProtocolVersion version : {ProtocolVersion::v0_3, ProtocolVersion::v1_0}) {
    const auto code = [&](ErrorCode error) { return status_of(version, {error, "why", {}}).code; };
    CHECK(code(ErrorCode::unauthenticated) == Code::unauthenticated);
    CHECK(code(ErrorCode::permission_denied) == Code::permission_denied);
    CHECK(code(ErrorCode::too_large) == Code::resource_exhausted);
    CHECK(code(ErrorCode::overloaded) == Code::resource_exhausted);
    CHECK(code(ErrorCode::unavailable) == Code::unavailable);
    CHECK(code(ErrorCode::deadline_exceeded) == Code::deadline_exceeded);
  }
}

TEST_CASE("gRPC status: a message repeats nothing") {
  const auto said = [](ErrorCode error, const char* why) {
    return status_of(ProtocolVersion::v0_3, {error, why, {}}).message;
  };
  CHECK(said(ErrorCode::task_not_found, "task not found") == "Task not found");
  CHECK(said(ErrorCode::task_not_found, "") == "Task not found");
  CHECK(said(ErrorCode::invalid_argument, "x: too long") == "Invalid parameters: x: too long");
  const CallStatus access =
      status_of(ProtocolVersion::v0_3, {ErrorCode::unauthenticated, "a token is needed", {}});
  CHECK(access.message == "a token is needed");
  CHECK(access.reason == "UNAUTHENTICATED");
}

TEST_CASE("gRPC status: its texts fit into a client's headers, however long the error is") {
  const std::string name(20'000, 'x'), text = name + ": \xC3\xA4" + name;
  const CallStatus status = status_of(ProtocolVersion::v1_0, {ErrorCode::invalid_argument, text, {}}, {name});
  CHECK(status.message.size() <= 1'000);
  CHECK(status.field == name.substr(0, 1'000));
  CHECK(status.description.size() <= 1'000);
  CHECK(status.task.empty());
}

TEST_CASE("gRPC status: overload has a retry time in every version") {
  for (const ProtocolVersion version : {ProtocolVersion::v0_3, ProtocolVersion::v1_0}) {
    CHECK(status_of(version, {ErrorCode::overloaded, "the queue is full", {}}).retry_after_s == 1);
  }
}

TEST_CASE("gRPC status: 1.0 names the task and the wrong member, 0.3 neither") {
  const base::Error wrong{ErrorCode::invalid_argument, "params.message.parts[0]: must be an object", {}};
  const CallStatus now = status_of(ProtocolVersion::v1_0, wrong, {"t"});
  CHECK(now.task.value == "t");
  CHECK(now.field == "message.parts[0]");
  CHECK(now.description == "must be an object");
  const CallStatus old = status_of(ProtocolVersion::v0_3, wrong, {"t"});
  CHECK(old.task.empty());
  CHECK(old.field.empty());
  CHECK(old.message == now.message);
}

TEST_CASE("gRPC status: already_exists has its own code in 1.0 only") {
  const base::Error taken{ErrorCode::already_exists, "x", {}};
  CHECK(status_of(ProtocolVersion::v1_0, taken).code == Code::already_exists);
  CHECK(status_of(ProtocolVersion::v0_3, taken).code == Code::aborted);
  CHECK(status_of(ProtocolVersion::v0_3, taken).reason == "CONFLICT");
}

}  // namespace
}  // namespace baton::server::grpc::call_status_test
