#include "base/error_names.h"

#include <array>
#include <string_view>

namespace baton::base {
namespace {

// In the order of ErrorCode.
constexpr std::array<std::string_view, 23> kNames{"parse_error",
                                                  "invalid_request",
                                                  "method_not_found",
                                                  "invalid_argument",
                                                  "task_not_found",
                                                  "not_found",
                                                  "already_exists",
                                                  "conflict",
                                                  "not_cancelable",
                                                  "unsupported",
                                                  "push_not_supported",
                                                  "content_type_not_supported",
                                                  "version_not_supported",
                                                  "extension_required",
                                                  "extended_card_not_configured",
                                                  "unauthenticated",
                                                  "permission_denied",
                                                  "too_large",
                                                  "overloaded",
                                                  "deadline_exceeded",
                                                  "raced",
                                                  "unavailable",
                                                  "internal"};
static_assert(static_cast<std::size_t>(ErrorCode::internal) + 1 == kNames.size());

}  // namespace

std::string name_of(ErrorCode code) {
  return std::string(kNames[static_cast<std::size_t>(code)]);
}

}  // namespace baton::base
