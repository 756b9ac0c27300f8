#include "protocol/rpc/json_rpc.h"

#include <array>

namespace baton::protocol {
namespace {

using base::ErrorCode;

struct Row {
  ErrorCode code;
  RpcCode rpc;
};

// See protocol/a2a/README.md, 3. These numbers are in schema/ERRORS.md: they must not change.
constexpr std::array kErrors{
    Row{ErrorCode::parse_error, {-32700, "Invalid JSON payload"}},
    Row{ErrorCode::invalid_request, {-32600, "Request payload validation error"}},
    Row{ErrorCode::method_not_found, {-32601, "Method not found"}},
    Row{ErrorCode::invalid_argument, {-32602, "Invalid parameters"}},
    Row{ErrorCode::too_large, {-32602, "Invalid parameters"}},
    Row{ErrorCode::task_not_found, {-32001, "Task not found"}},
    Row{ErrorCode::not_found, {-32001, "Task not found"}},
    Row{ErrorCode::not_cancelable, {-32002, "Task cannot be canceled"}},
    Row{ErrorCode::push_not_supported, {-32003, "Push Notification is not supported"}},
    Row{ErrorCode::unsupported, {-32004, "This operation is not supported"}},
    Row{ErrorCode::content_type_not_supported, {-32005, "Incompatible content types"}},
    Row{ErrorCode::extended_card_not_configured, {-32007, "Authenticated Extended Card is not configured"}},
    Row{ErrorCode::extension_required, {-32008, "Extension support is required"}},
    Row{ErrorCode::version_not_supported, {-32009, "Version not supported"}},
    Row{ErrorCode::unauthenticated, {401, "Authentication required"}},
    Row{ErrorCode::permission_denied, {403, "Permission denied"}},
    Row{ErrorCode::already_exists, {409, "Already exists"}},
    Row{ErrorCode::conflict, {409, "Conflict"}},
    Row{ErrorCode::overloaded, {429, "Too many requests"}},
    Row{ErrorCode::unavailable, {503, "Service unavailable"}},
    Row{ErrorCode::deadline_exceeded, {504, "Deadline exceeded"}},
};
// The longest id of a request, in bytes. It is limited because every event of a stream repeats it.
constexpr std::size_t kRpcIdMax = 1024;
constexpr RpcCode kInternal{-32603, "Internal error"};

tl::unexpected<RpcRefusal> refuse(std::string id, ErrorCode code, std::string detail) {
  return tl::unexpected<RpcRefusal>({std::move(id), {code, std::move(detail), {}}});
}

}  // namespace

RpcCode rpc_code_of(ErrorCode code) {
  for (const Row& row : kErrors) {
    if (row.code == code) return row.rpc;
  }
  return kInternal;
}

int retry_after_s(ErrorCode code) {
  if (code == ErrorCode::overloaded) return 1;
  return code == ErrorCode::unavailable ? 5 : 0;
}

tl::expected<RpcRequest, RpcRefusal> read_rpc_request(json::Value root) {
  if (root.is_array()) return refuse("null", ErrorCode::invalid_request, "batches are not supported");
  if (!root.is_object()) return refuse("null", ErrorCode::invalid_request, "a request must be an object");

  RpcRequest request;
  const json::Value id = root["id"];
  if ((id.is_string() || id.is_number()) && id.raw().size() > kRpcIdMax) {
    return refuse("null", ErrorCode::invalid_request, "id: is too long");
  }
  if (id.is_string() || id.is_number()) {
    request.id = std::string(id.raw());
  } else if (!id.absent()) {
    return refuse("null", ErrorCode::invalid_request, "id: must be a string, a number or null");
  }
  for (const std::string_view name : {"jsonrpc", "id", "method", "params"}) {
    if (root.repeats(name)) {
      return refuse(request.id, ErrorCode::invalid_request, std::string(name) + ": is given more than once");
    }
  }
  const json::Value version = root["jsonrpc"];
  if (!version.missing() && version.string() != "2.0") {
    return refuse(request.id, ErrorCode::invalid_request, "jsonrpc: must be \"2.0\"");
  }
  request.says_2_0 = !version.missing();
  if (!root["method"].is_string()) {
    return refuse(request.id, ErrorCode::invalid_request, "method: must be a string");
  }
  request.method = root["method"].str();
  const json::Value params = root["params"];
  if (!params.absent() && !params.is_object()) {
    return refuse(request.id, ErrorCode::invalid_argument, "params: must be an object");
  }
  if (params.is_object()) request.params = params;
  return request;
}

void write_error_data(json::Writer& out, const base::Error& error) {
  const int retry_after = retry_after_s(error.code);
  if (error.for_caller.empty() && retry_after == 0) return;
  out.key("data").object([&] {
    if (!error.for_caller.empty()) out.member("detail", error.for_caller);
    if (retry_after > 0) out.member("retryAfter", retry_after);
  });
}

void write_rpc_error(std::string& out, std::string_view id, const base::Error& error) {
  const RpcCode code = rpc_code_of(error.code);
  json::Writer writer(out);
  writer.object([&] {
    writer.member("jsonrpc", "2.0");
    writer.key("id").raw(id);
    writer.key("error").object([&] {
      writer.member("code", code.number);
      writer.member("message", code.text);
      write_error_data(writer, error);
    });
  });
}

}  // namespace baton::protocol
