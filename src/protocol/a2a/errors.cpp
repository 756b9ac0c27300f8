#include "protocol/a2a/errors.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "base/text.h"
#include "json/writer.h"
#include "protocol/rpc/json_rpc.h"

namespace baton::protocol::a2a {
namespace {

using base::ErrorCode;

struct Row {
  ErrorCode code;
  int http;
  std::string_view status;  // of google.rpc
  std::string_view reason;  // of ErrorInfo
};

// The table of v1.0.1, which supersedes that of v1.0.0. For errors that A2A does not define, the reasons are
// those of the SDKs.
constexpr std::array kErrors{
    Row{ErrorCode::parse_error, 400, "INVALID_ARGUMENT", "PARSE_ERROR"},
    Row{ErrorCode::invalid_request, 400, "INVALID_ARGUMENT", "INVALID_REQUEST"},
    Row{ErrorCode::method_not_found, 404, "UNIMPLEMENTED", "METHOD_NOT_FOUND"},
    Row{ErrorCode::invalid_argument, 400, "INVALID_ARGUMENT", "INVALID_PARAMS"},
    Row{ErrorCode::task_not_found, 404, "NOT_FOUND", "TASK_NOT_FOUND"},
    Row{ErrorCode::not_found, 404, "NOT_FOUND", "TASK_NOT_FOUND"},
    Row{ErrorCode::already_exists, 409, "ALREADY_EXISTS", "ALREADY_EXISTS"},
    Row{ErrorCode::conflict, 409, "ABORTED", "CONFLICT"},
    Row{ErrorCode::not_cancelable, 400, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE"},
    Row{ErrorCode::unsupported, 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION"},
    Row{ErrorCode::push_not_supported, 400, "FAILED_PRECONDITION", "PUSH_NOTIFICATION_NOT_SUPPORTED"},
    Row{ErrorCode::content_type_not_supported, 400, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED"},
    Row{ErrorCode::version_not_supported, 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED"},
    Row{ErrorCode::extension_required, 400, "FAILED_PRECONDITION", "EXTENSION_SUPPORT_REQUIRED"},
    Row{ErrorCode::extended_card_not_configured, 400, "FAILED_PRECONDITION",
        "EXTENDED_AGENT_CARD_NOT_CONFIGURED"},
    Row{ErrorCode::unauthenticated, 401, "UNAUTHENTICATED", "UNAUTHENTICATED"},
    Row{ErrorCode::permission_denied, 403, "PERMISSION_DENIED", "PERMISSION_DENIED"},
    Row{ErrorCode::too_large, 413, "INVALID_ARGUMENT", "INVALID_PARAMS"},
    Row{ErrorCode::overloaded, 429, "RESOURCE_EXHAUSTED", "RESOURCE_EXHAUSTED"},
    Row{ErrorCode::deadline_exceeded, 504, "DEADLINE_EXCEEDED", "DEADLINE_EXCEEDED"},
    Row{ErrorCode::unavailable, 503, "UNAVAILABLE", "UNAVAILABLE"},
};
constexpr Row kInternal{ErrorCode::internal, 500, "INTERNAL", "INTERNAL_ERROR"};

const Row& row_of(ErrorCode code) {
  const auto* row =
      std::find_if(kErrors.begin(), kErrors.end(), [&](const Row& r) { return r.code == code; });
  return row == kErrors.end() ? kInternal : *row;
}

void write_error_info(json::Writer& out, const Row& row, const task::TaskId& task) {
  out.object([&] {
    out.member("@type", "type.googleapis.com/google.rpc.ErrorInfo");
    out.member("reason", row.reason).member("domain", kErrorDomain);
    if (task.empty()) return;
    out.key("metadata").object([&] { out.member("taskId", task.value); });
  });
}

void write_bad_request(json::Writer& out, const Violation& violation) {
  out.object([&] {
    out.member("@type", "type.googleapis.com/google.rpc.BadRequest");
    out.key("fieldViolations").array([&] {
      out.object([&] { out.member("field", violation.field).member("description", violation.description); });
    });
  });
}

// Always has an ErrorInfo: many errors share a status, and clients go by the reason.
void write_details(json::Writer& out, std::string_view name, const base::Error& error,
                   const task::TaskId& task) {
  out.key(name).array([&] {
    write_error_info(out, row_of(error.code), task);
    if (const auto violation = violation_in(error)) write_bad_request(out, *violation);
    const int retry_after = retry_after_s(error.code);
    if (retry_after == 0) return;
    out.object([&] {
      out.member("@type", "type.googleapis.com/google.rpc.RetryInfo");
      out.member("retryDelay", std::to_string(retry_after) + "s");
    });
  });
}

}  // namespace

std::string_view status_name(ErrorCode code) {
  return row_of(code).status;
}

std::string_view reason_of(ErrorCode code) {
  return row_of(code).reason;
}

std::string message_of(const base::Error& error) {
  const RpcCode code = rpc_code_of(error.code);
  if (error.for_caller.empty() || base::same_word(error.for_caller, code.text)) {
    return std::string(code.text);
  }
  const bool unfit = code.number > 0;
  return unfit ? error.for_caller : std::string(code.text) + ": " + error.for_caller;
}

std::optional<Violation> violation_in(const base::Error& error) {
  if (error.code != ErrorCode::invalid_argument && error.code != ErrorCode::invalid_request) {
    return std::nullopt;
  }
  const std::string_view text = error.for_caller;
  const std::size_t end = text.find(": ");
  if (end == 0 || end == std::string_view::npos) return std::nullopt;
  std::string_view field = text.substr(0, end);
  const bool is_path = std::all_of(field.begin(), field.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '.' || c == '_' || c == '[' || c == ']';
  });
  if (!is_path) return std::nullopt;
  constexpr std::string_view kParams = "params.";
  if (field.starts_with(kParams)) field.remove_prefix(kParams.size());
  return Violation{field, text.substr(end + 2)};
}

void write_rpc_error_v1(std::string& out, std::string_view id, const base::Error& error,
                        const task::TaskId& task) {
  json::Writer writer(out);
  writer.object([&] {
    writer.member("jsonrpc", "2.0");
    writer.key("id").raw(id);
    writer.key("error").object([&] {
      writer.member("code", rpc_code_of(error.code).number).member("message", message_of(error));
      write_details(writer, "data", error, task);
    });
  });
}

int rest_status(const base::Error& error) {
  return row_of(error.code).http;
}

void write_rest_error_v0_3(std::string& out, const base::Error& error) {
  const RpcCode code = rpc_code_of(error.code);
  json::Writer writer(out);
  writer.object([&] {
    writer.member("code", code.number).member("message", code.text);
    write_error_data(writer, error);
  });
}

void write_rest_error_v1(std::string& out, const base::Error& error, const task::TaskId& task, int status) {
  json::Writer writer(out);
  writer.object([&] {
    writer.key("error").object([&] {
      writer.member("code", status).member("status", row_of(error.code).status);
      writer.member("message", message_of(error));
      write_details(writer, "details", error, task);
    });
  });
}

}  // namespace baton::protocol::a2a
