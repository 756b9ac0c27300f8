#include "server/shared/answers.h"

#include <algorithm>
#include <array>
#include <utility>

#include "json/writer.h"
#include "server/shared/scopes.h"

namespace baton::server {
namespace {

using base::ErrorCode;

constexpr std::array kErrorRows{
    ErrorRow{ErrorCode::parse_error, 400, 400, "invalid_argument"},
    ErrorRow{ErrorCode::invalid_request, 400, 400, "invalid_argument"},
    ErrorRow{ErrorCode::method_not_found, 400, 405, "method_not_allowed"},
    ErrorRow{ErrorCode::invalid_argument, 400, 400, "invalid_argument"},
    ErrorRow{ErrorCode::task_not_found, 404, 404, "not_found"},
    ErrorRow{ErrorCode::not_found, 404, 404, "not_found"},
    ErrorRow{ErrorCode::already_exists, 409, 409, "conflict"},
    ErrorRow{ErrorCode::conflict, 409, 409, "conflict"},
    ErrorRow{ErrorCode::not_cancelable, 400, 409, "conflict"},
    ErrorRow{ErrorCode::unsupported, 409, 409, "conflict"},
    ErrorRow{ErrorCode::push_not_supported, 400, 409, "conflict"},
    ErrorRow{ErrorCode::content_type_not_supported, 400, 400, "invalid_argument"},
    ErrorRow{ErrorCode::version_not_supported, 400, 500, "internal"},
    ErrorRow{ErrorCode::extension_required, 400, 500, "internal"},
    ErrorRow{ErrorCode::extended_card_not_configured, 400, 500, "internal"},
    ErrorRow{ErrorCode::unauthenticated, 400, 401, "unauthenticated"},
    ErrorRow{ErrorCode::permission_denied, 400, 403, "permission_denied"},
    ErrorRow{ErrorCode::too_large, 413, 413, "too_large"},
    ErrorRow{ErrorCode::overloaded, 503, 429, "overloaded"},
    ErrorRow{ErrorCode::deadline_exceeded, 400, 503, "unavailable"},
    ErrorRow{ErrorCode::raced, 400, 500, "internal"},
    ErrorRow{ErrorCode::unavailable, 503, 503, "unavailable"},
    ErrorRow{ErrorCode::internal, 500, 500, "internal"},
};

constexpr bool are_in_order() {
  for (std::size_t place = 0; place < kErrorRows.size(); ++place) {
    if (kErrorRows[place].code != static_cast<ErrorCode>(place)) return false;
  }
  return true;
}
static_assert(are_in_order() && kErrorRows.back().code == ErrorCode::internal);

constexpr int kOfServer = 500;

}  // namespace

const ErrorRow& error_row(ErrorCode code) {
  return kErrorRows[static_cast<std::size_t>(code)];
}

std::string_view name_of_status(int status) {
  const auto row = std::ranges::find(kErrorRows, status, &ErrorRow::operators);
  if (row != kErrorRows.end()) return row->name;
  return error_row(status < kOfServer ? ErrorCode::invalid_argument : ErrorCode::internal).name;
}

ErrorCode code_of_status(int status) {
  constexpr std::array<std::pair<int, ErrorCode>, 9> kCodes{{
      {401, ErrorCode::unauthenticated},
      {403, ErrorCode::permission_denied},
      {408, ErrorCode::deadline_exceeded},
      {413, ErrorCode::too_large},
      {414, ErrorCode::too_large},
      {415, ErrorCode::content_type_not_supported},
      {429, ErrorCode::overloaded},
      {431, ErrorCode::too_large},
      {503, ErrorCode::unavailable},
  }};
  const auto found = std::ranges::find(kCodes, status, &std::pair<int, ErrorCode>::first);
  if (found != kCodes.end()) return found->second;
  return status < kOfServer ? ErrorCode::invalid_request : ErrorCode::internal;
}

std::string challenge_of(const base::Error& error) {
  std::string challenge = R"(Bearer realm="baton")";
  if (error.code == ErrorCode::unauthenticated) return challenge;
  const auto scope = lacked_scope(error);
  if (!scope) return {};
  return challenge + R"(, error="insufficient_scope", scope=")" + std::string(name_of(*scope)) + "\"";
}

http::Reply plain_error(int status, std::string_view reason) {
  http::Reply reply;
  reply.status = status;
  json::Writer writer(reply.body);
  writer.object([&] { writer.member("error", reason); });
  reply.body += '\n';
  const bool may_come_back = status == 429 || status == 503;
  if (may_come_back) reply.headers.emplace_back("Retry-After", "1");
  if (status == 401)
    reply.headers.emplace_back("WWW-Authenticate", challenge_of({ErrorCode::unauthenticated, {}, {}}));
  return reply;
}

base::Error too_many_large_answers() {
  return {ErrorCode::overloaded, "too many large answers are being sent; try again later", {}};
}

base::Error too_many_waiting_answers() {
  return {ErrorCode::overloaded, "too many requests are waiting for an answer; try again later", {}};
}

base::Error too_many_open_runs() {
  return {ErrorCode::overloaded, "too many of this caller's runs are open; try again later", {}};
}

http::Reply refusal(const base::Error& error) {
  if (error.code == base::ErrorCode::unauthenticated) return plain_error(401, error.for_caller);
  if (error.code == base::ErrorCode::permission_denied) {
    http::Reply reply = plain_error(403, error.for_caller);
    if (std::string challenge = challenge_of(error); !challenge.empty())
      reply.headers.emplace_back("WWW-Authenticate", std::move(challenge));
    return reply;
  }
  if (error.code == base::ErrorCode::unavailable) return plain_error(503, error.for_caller);
  return plain_error(404, error.for_caller);
}

}  // namespace baton::server
