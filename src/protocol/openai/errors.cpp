#include "protocol/openai/errors.h"

#include <algorithm>

#include "base/text.h"
#include "json/writer.h"

namespace baton::protocol::openai {
namespace {

using base::ErrorCode;

constexpr std::string_view kRequest = "invalid_request_error", kServer = "server_error";
constexpr std::size_t kNameMax = 200;  // bytes of a name that an error repeats

// The member that a text of an error begins with: "input[0].role: must be a string".
std::string member_in(std::string_view message) {
  const std::string_view member = message.substr(0, std::min(message.find(": "), message.size()));
  const bool is_name =
      !member.empty() && member.size() < message.size() && std::ranges::all_of(member, [](unsigned char c) {
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        return is_letter || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '[' || c == ']';
      });
  return is_name ? std::string(member) : std::string();
}

Failure form_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::task_not_found:
    case ErrorCode::not_found:
      return {404, kRequest, "not_found", {}};
    case ErrorCode::already_exists:
    case ErrorCode::conflict:
    case ErrorCode::not_cancelable:
    case ErrorCode::unsupported:
      return {409, kRequest, "conflict", {}};
    case ErrorCode::unauthenticated:
      return {401, kRequest, "invalid_api_key", {}};
    case ErrorCode::permission_denied:
      return {403, kRequest, "permission_denied", {}};
    case ErrorCode::too_large:
      return {413, kRequest, "too_large", {}};
    case ErrorCode::content_type_not_supported:
      return {415, kRequest, {}, {}};
    case ErrorCode::overloaded:
      return {429, "rate_limit_error", "rate_limit_exceeded", {}};
    case ErrorCode::deadline_exceeded:
    case ErrorCode::unavailable:
      return {503, kServer, "unavailable", {}};
    case ErrorCode::internal:
    case ErrorCode::raced:
      return {500, kServer, "internal_error", {}};
    default:
      return {400, kRequest, {}, {}};
  }
}

}  // namespace

Failure failure_of(const base::Error& error) {
  Failure failure = form_of(error.code);
  failure.message = error.for_caller.empty() ? "internal error" : error.for_caller;
  if (failure.status == 400) failure.param = member_in(failure.message);
  return failure;
}

Failure no_such_model(std::string_view model) {
  return {404, kRequest, "model_not_found",
          "The model '" + std::string(base::beginning_of(model, kNameMax)) + "' does not exist.", "model"};
}

void write_failure(std::string& out, const Failure& failure) {
  json::Writer writer(out);
  const auto text_or_null = [&](std::string_view name, std::string_view text) {
    text.empty() ? writer.key(name).null() : writer.member(name, text);
  };
  writer.object([&] {
    writer.key("error").object([&] {
      writer.member("message", failure.message).member("type", failure.type);
      text_or_null("param", failure.param);
      text_or_null("code", failure.code);
    });
  });
}

}  // namespace baton::protocol::openai
