#include "server/operate/call.h"

#include <algorithm>
#include <array>
#include <utility>

#include "json/writer.h"

namespace baton::server::operate {
namespace {

using base::ErrorCode;

struct ErrorRow {
  ErrorCode code;
  int status;
  std::string_view name;
};
constexpr ErrorRow kInternal{ErrorCode::internal, 500, "internal"};
constexpr std::array kErrors{
    ErrorRow{ErrorCode::parse_error, 400, "invalid_argument"},
    ErrorRow{ErrorCode::invalid_request, 400, "invalid_argument"},
    ErrorRow{ErrorCode::invalid_argument, 400, "invalid_argument"},
    ErrorRow{ErrorCode::content_type_not_supported, 400, "invalid_argument"},
    ErrorRow{ErrorCode::unauthenticated, 401, "unauthenticated"},
    ErrorRow{ErrorCode::permission_denied, 403, "permission_denied"},
    ErrorRow{ErrorCode::task_not_found, 404, "not_found"},
    ErrorRow{ErrorCode::not_found, 404, "not_found"},
    ErrorRow{ErrorCode::method_not_found, 405, "method_not_allowed"},
    ErrorRow{ErrorCode::already_exists, 409, "conflict"},
    ErrorRow{ErrorCode::conflict, 409, "conflict"},
    ErrorRow{ErrorCode::not_cancelable, 409, "conflict"},
    ErrorRow{ErrorCode::unsupported, 409, "conflict"},
    ErrorRow{ErrorCode::push_not_supported, 409, "conflict"},
    ErrorRow{ErrorCode::too_large, 413, "too_large"},
    ErrorRow{ErrorCode::overloaded, 429, "overloaded"},
    ErrorRow{ErrorCode::deadline_exceeded, 503, "unavailable"},
    ErrorRow{ErrorCode::unavailable, 503, "unavailable"},
};

const ErrorRow& row_of(ErrorCode code) {
  for (const ErrorRow& row : kErrors) {
    if (row.code == code) return row;
  }
  return kInternal;
}

http::Reply error_of(int status, std::string_view code, std::string_view message,
                     std::optional<std::int64_t> count) {
  std::string body;
  json::Writer out(body);
  out.object([&] {
    out.key("error").object([&] {
      out.member("code", code).member("message", message);
      if (count) out.member("count", *count);
    });
  });
  http::Reply reply = json_reply(std::move(body), status);
  if (status == 401) reply.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"baton\"");
  if (status == 429 || status == 503) reply.headers.emplace_back("Retry-After", "1");
  return reply;
}

}  // namespace

http::Reply json_reply(std::string body, int status) {
  http::Reply reply;
  reply.status = status;
  reply.headers = {{"Cache-Control", "no-store"}};
  reply.body = std::move(body);
  return reply;
}

http::Reply error_reply(const base::Error& error, std::optional<std::int64_t> count) {
  const ErrorRow& row = row_of(error.code);
  const bool has_words = row.code != ErrorCode::internal && !error.for_caller.empty();
  return error_of(row.status, row.name, has_words ? error.for_caller : "this did not work; the log says why",
                  count);
}

http::Reply error_reply(int status, std::string_view code, std::string_view message) {
  return error_of(status, code, message, {});
}

http::Reply error_reply(int status, std::string_view message) {
  constexpr int kOfServer = 500;
  const auto row = std::ranges::find(kErrors, status, &ErrorRow::status);
  const std::string_view other = status < kOfServer ? "invalid_argument" : kInternal.name;
  return error_of(status, row == kErrors.end() ? other : row->name, message, {});
}

void answer(const CallPtr& call, base::Result<std::string> json) {
  // Data that a power failure could still revert is not shown.
  if (json) call->facts.services.engine.settle_reads();
  call->exchange->reply(json ? json_reply(std::move(*json)) : error_reply(json.error()));
}

}  // namespace baton::server::operate
