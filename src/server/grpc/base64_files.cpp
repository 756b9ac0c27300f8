#include "server/grpc/base64_files.h"

#include <algorithm>
#include <array>

#include "base/base64.h"

namespace baton::server::grpc {

bool may_send_base64_text(std::string_view user_agent) {
  constexpr std::array<std::string_view, 3> kNames{"grpc-python", "grpc-go/", "grpc-java"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](std::string_view name) { return user_agent.find(name) != std::string_view::npos; });
}

std::string base64_of_file(const std::string& field, bool may_be_text) {
  const bool is_text = may_be_text && !field.empty() && base::normalize_base64(field) == field;
  return is_text ? field : base::encode_base64(field);
}

}  // namespace baton::server::grpc
