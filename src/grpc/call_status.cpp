#include "grpc/call_status.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "base/text.h"
#include "wire/a2a/errors.h"
#include "wire/json/document.h"
#include "wire/json/writer.h"

namespace baton::grpc {
namespace {

template <class Key, std::size_t N>
std::optional<Code> find(const std::array<std::pair<Key, Code>, N>& table, const Key& key) {
  const auto* found =
      std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.first == key; });
  return found == table.end() ? std::nullopt : std::optional(found->second);
}

// Statuses of the connection layer and the access check mean the same in every generation.
constexpr std::array<std::pair<int, Code>, 6> kOfHttp{{
    {401, Code::unauthenticated},
    {403, Code::permission_denied},
    {413, Code::resource_exhausted},
    {429, Code::resource_exhausted},
    {503, Code::unavailable},
    {504, Code::deadline_exceeded},
}};
// Used if the body does not say more.
constexpr std::array<std::pair<int, Code>, 5> kOfHttpAlone{{
    {400, Code::invalid_argument},
    {404, Code::not_found},
    {405, Code::unimplemented},
    {409, Code::aborted},
    {415, Code::invalid_argument},
}};
// A2A 0.3 has no table of its own. This is the table of 1.0, except for -32003 and -32004, which clients of
// 0.3 know only as "unimplemented". The reasons are for clients of 1.0 that speak 0.3.
struct NumberRow {
  std::int64_t number;
  Code code;
  std::string_view reason;
};
constexpr std::array kOfNumber{
    NumberRow{-32700, Code::invalid_argument, "PARSE_ERROR"},
    NumberRow{-32600, Code::invalid_argument, "INVALID_REQUEST"},
    NumberRow{-32601, Code::unimplemented, "METHOD_NOT_FOUND"},
    NumberRow{-32602, Code::invalid_argument, "INVALID_PARAMS"},
    NumberRow{-32603, Code::internal, "INTERNAL_ERROR"},
    NumberRow{-32001, Code::not_found, "TASK_NOT_FOUND"},
    NumberRow{-32002, Code::failed_precondition, "TASK_NOT_CANCELABLE"},
    NumberRow{-32003, Code::unimplemented, "PUSH_NOTIFICATION_NOT_SUPPORTED"},
    NumberRow{-32004, Code::unimplemented, "UNSUPPORTED_OPERATION"},
    NumberRow{-32005, Code::invalid_argument, "CONTENT_TYPE_NOT_SUPPORTED"},
    NumberRow{-32006, Code::internal, "INVALID_AGENT_RESPONSE"},
    NumberRow{-32007, Code::failed_precondition, "EXTENDED_AGENT_CARD_NOT_CONFIGURED"},
    NumberRow{-32008, Code::failed_precondition, "EXTENSION_SUPPORT_REQUIRED"},
    NumberRow{-32009, Code::failed_precondition, "VERSION_NOT_SUPPORTED"},
    NumberRow{401, Code::unauthenticated, "UNAUTHENTICATED"},
    NumberRow{403, Code::permission_denied, "PERMISSION_DENIED"},
    NumberRow{409, Code::aborted, "CONFLICT"},
    NumberRow{429, Code::resource_exhausted, "RESOURCE_EXHAUSTED"},
    NumberRow{503, Code::unavailable, "UNAVAILABLE"},
    NumberRow{504, Code::deadline_exceeded, "DEADLINE_EXCEEDED"},
};
constexpr std::array<std::pair<std::string_view, Code>, 12> kOfName{{
    {"INVALID_ARGUMENT", Code::invalid_argument},
    {"DEADLINE_EXCEEDED", Code::deadline_exceeded},
    {"NOT_FOUND", Code::not_found},
    {"ALREADY_EXISTS", Code::already_exists},
    {"PERMISSION_DENIED", Code::permission_denied},
    {"RESOURCE_EXHAUSTED", Code::resource_exhausted},
    {"FAILED_PRECONDITION", Code::failed_precondition},
    {"ABORTED", Code::aborted},
    {"UNIMPLEMENTED", Code::unimplemented},
    {"INTERNAL", Code::internal},
    {"UNAVAILABLE", Code::unavailable},
    {"UNAUTHENTICATED", Code::unauthenticated},
}};

Code code_of(int http_status, std::optional<Code> from_body) {
  if (const auto code = find(kOfHttp, http_status)) return *code;
  if (from_body) return *from_body;
  return find(kOfHttpAlone, http_status).value_or(Code::internal);
}

// `write` adds members to the details after code and message.
template <class F>
void write_details(CallStatus& status, F&& write) {
  wire::Writer out(status.details);
  out.object([&] {
    out.member("code", static_cast<int>(status.code)).member("message", status.message);
    write(out);
  });
}

// `retry_after` is in seconds; 0 writes no RetryInfo.
void write_reason(wire::Writer& out, std::string_view reason, std::int64_t retry_after) {
  out.key("details").array([&] {
    out.object([&] {
      out.member("@type", "type.googleapis.com/google.rpc.ErrorInfo");
      out.member("reason", reason).member("domain", "a2a-protocol.org");
    });
    if (retry_after == 0) return;
    out.object([&] {
      out.member("@type", "type.googleapis.com/google.rpc.RetryInfo");
      out.member("retryDelay", std::to_string(retry_after) + "s");
    });
  });
}

// The canonical text of the number and the exact cause, or one of them if both are the same.
std::string old_message(std::string_view text, std::string_view detail) {
  const bool same = base::same_word(text, detail);
  std::string message(text);
  if (!same && !detail.empty()) message.append(text.empty() ? "" : ": ").append(detail);
  return message;
}

CallStatus old_status(int http_status, wire::Value body) {
  const auto number = body["code"].integer();
  const auto* row = std::find_if(kOfNumber.begin(), kOfNumber.end(),
                                 [&](const NumberRow& r) { return r.number == number; });
  const bool known = row != kOfNumber.end();
  const std::string_view detail = body["data"]["detail"].string();
  CallStatus status;
  status.code = code_of(http_status, known ? std::optional(row->code) : std::nullopt);
  // Errors without an A2A number give the detail: their message only repeats the name of gRPC's code.
  const bool is_of_http = known && row->number > 0 && !detail.empty();
  status.message = is_of_http ? std::string(detail) : old_message(body["message"].string(), detail);
  if (known) {
    const std::int64_t retry_after = body["data"]["retryAfter"].integer().value_or(0);
    write_details(status, [&](wire::Writer& out) { write_reason(out, row->reason, retry_after); });
  }
  return status;
}

CallStatus v1_status(int http_status, wire::Value error) {
  CallStatus status;
  status.code = code_of(http_status, find(kOfName, error["status"].string()));
  status.message = error["message"].string();
  write_details(status, [&](wire::Writer& out) {
    if (error["details"].is_array()) out.key("details").raw(error["details"].raw());
  });
  return status;
}

}  // namespace

CallStatus status_of(task::Generation generation, int http_status, std::string_view body) {
  const auto document = wire::Document::parse_view(body);
  const wire::Value root = document ? document->root() : wire::Value();
  const wire::Value error = root["error"];
  CallStatus status = error.is_object() && generation == task::Generation::v1_0
                          ? v1_status(http_status, error)
                          : old_status(http_status, root);
  if (status.message.empty()) status.message = error.string();  // from the router: {"error":"<reason>"}
  return status;
}

RestError rest_error(task::Generation generation, const base::Error& error) {
  RestError said{wire::a2a::rest_status(error), {}};
  if (generation == task::Generation::v1_0) {
    wire::a2a::write_rest_error_v1(said.body, error, {}, said.http_status);
  } else {
    wire::a2a::write_rest_error_v0_3(said.body, error);
  }
  return said;
}

}  // namespace baton::grpc
