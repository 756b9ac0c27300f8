#include "server/shared/scopes.h"

namespace baton::server {
namespace {

constexpr std::string_view kLacks = "this token lacks the scope ";

}  // namespace

std::vector<std::string> names_of(Scopes scopes) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kScopeNames.size(); ++i) {
    if (scopes.has(static_cast<Scope>(i))) names.emplace_back(kScopeNames[i]);
  }
  return names;
}

base::Error lacks(Scope scope) {
  return {base::ErrorCode::permission_denied, std::string(kLacks) + std::string(name_of(scope)), {}};
}

std::optional<Scope> lacked_scope(const base::Error& error) {
  if (error.code != base::ErrorCode::permission_denied || !error.for_caller.starts_with(kLacks))
    return std::nullopt;
  const std::string_view name = std::string_view(error.for_caller).substr(kLacks.size());
  for (std::size_t i = 0; i < kScopeNames.size(); ++i) {
    if (kScopeNames[i] == name) return static_cast<Scope>(i);
  }
  return std::nullopt;
}

}  // namespace baton::server
