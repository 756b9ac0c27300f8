#include "protocol/a2a/client/read_errors.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "protocol/a2a/members.h"

namespace baton::protocol::a2a {
namespace {

struct Reason {
  std::string_view name;
  std::int64_t code;
};
constexpr std::array kReasons{
    Reason{"PARSE_ERROR", -32700},
    Reason{"INVALID_REQUEST", -32600},
    Reason{"METHOD_NOT_FOUND", kMethodNotFound},
    Reason{"INVALID_PARAMS", kInvalidParams},
    Reason{"INTERNAL_ERROR", -32603},
    Reason{"TASK_NOT_FOUND", kTaskNotFound},
    Reason{"TASK_NOT_CANCELABLE", kTaskNotCancelable},
    Reason{"PUSH_NOTIFICATION_NOT_SUPPORTED", -32003},
    Reason{"UNSUPPORTED_OPERATION", kUnsupportedOperation},
    Reason{"CONTENT_TYPE_NOT_SUPPORTED", -32005},
    Reason{"INVALID_AGENT_RESPONSE", -32006},
    Reason{"EXTENDED_AGENT_CARD_NOT_CONFIGURED", -32007},
    Reason{"EXTENSION_SUPPORT_REQUIRED", -32008},
    Reason{"VERSION_NOT_SUPPORTED", kVersionNotSupported},
    Reason{"UNAUTHENTICATED", 401},
    Reason{"PERMISSION_DENIED", 403},
    Reason{"RESOURCE_EXHAUSTED", 429},
    Reason{"UNAVAILABLE", 503},
};

// The meaning of google.rpc's own status if no reason is given.
constexpr std::array kStatuses{
    Reason{"NOT_FOUND", kTaskNotFound},
    Reason{"UNIMPLEMENTED", kMethodNotFound},
    Reason{"INVALID_ARGUMENT", kInvalidParams},
    Reason{"INTERNAL", -32603},
    Reason{"UNAUTHENTICATED", 401},
    Reason{"PERMISSION_DENIED", 403},
    Reason{"RESOURCE_EXHAUSTED", 429},
    Reason{"UNAVAILABLE", 503},
};

template <std::size_t N>
std::int64_t code_of(const std::array<Reason, N>& table, std::string_view name) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Reason& r) { return r.name == name; });
  return found == table.end() ? 0 : found->code;
}

bool is_type(json::Value item, std::string_view type) {
  return item["@type"].string().ends_with(type);
}

// The violations of each BadRequest, such as "message.parts: must not be empty".
std::string violations_in(json::Value details) {
  std::string text;
  for (const json::Value item : details) {
    if (!is_type(item, "google.rpc.BadRequest")) continue;
    const json::Value violations = first_of(item, {"fieldViolations", "field_violations"});
    if (!violations.is_array()) continue;
    for (const json::Value violation : violations) {
      const std::string_view field = violation["field"].string();
      text.append(text.empty() ? "" : "; ").append(field).append(field.empty() ? "" : ": ");
      text.append(violation["description"].string());
    }
  }
  return text;
}

std::int64_t reason_in(json::Value details) {
  for (const json::Value item : details) {
    if (is_type(item, "google.rpc.ErrorInfo")) return code_of(kReasons, item["reason"].string());
  }
  return 0;
}

// Before 1.0 `data` may be anything: Baton sends {"detail"}, others send a text.
std::string detail_in(json::Value data) {
  if (data.is_array()) return violations_in(data);
  return data.is_string() ? data.str() : data["detail"].str();
}

// The server chooses these texts. They are searched, masked and shown, each more than once.
RemoteError cut(RemoteError error) {
  constexpr std::size_t kTextMax = 4'096;
  for (std::string* text : {&error.message, &error.detail})
    text->resize(base::beginning_of(*text, kTextMax).size());
  return error;
}

RemoteError read_google_status(json::Value error) {
  const json::Value details = error["details"];
  RemoteError read{0, error["message"].str(), {}};
  if (details.is_array()) {
    read.code = reason_in(details);
    read.detail = violations_in(details);
  }
  if (read.code == 0) read.code = code_of(kStatuses, error["status"].string());
  return cut(std::move(read));
}

}  // namespace

base::Result<ClientAnswer> read_rpc_answer(json::Value body) {
  if (!body.is_object()) return wrong("the answer is not a JSON-RPC response");
  const json::Value error = body["error"];
  if (error.absent()) {
    if (body["result"].missing()) return wrong("the answer has neither result nor error");
    return ClientAnswer{body["result"], std::nullopt};
  }
  if (!error.is_object() || !error["code"].integer()) return wrong("error.code: must be a whole number");
  return ClientAnswer{{}, cut({*error["code"].integer(), error["message"].str(), detail_in(error["data"])})};
}

std::optional<RemoteError> read_rest_error(json::Value body) {
  const json::Value error = body["error"];
  if (error.is_object()) return read_google_status(error);
  const json::Value code = body["code"];
  if (!body["message"].is_string() || !(code.absent() || code.integer())) return std::nullopt;
  return cut({code.integer().value_or(0), body["message"].str(), detail_in(body["data"])});
}

base::Result<ClientAnswer> read_rest_answer(json::Value body, bool good) {
  if (good && !body["error"].is_object()) return ClientAnswer{body, std::nullopt};
  auto error = read_rest_error(body);
  if (!error) return wrong("the answer is not an A2A error");
  return ClientAnswer{{}, std::move(error)};
}

}  // namespace baton::protocol::a2a
