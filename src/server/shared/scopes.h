// Scopes: what a token allows, in addition to its role and its agents.
//
// send: send messages, answer and continue tasks. read: see one's own tasks, conversations and webhooks.
// cancel: cancel and delete them. operate: act through the operator API; reading it needs `read`. Threads:
// any; values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace baton::server {

enum class Scope : std::uint8_t { send, read, cancel, operate };
inline constexpr std::array<std::string_view, 4> kScopeNames{"send", "read", "cancel", "operate"};

constexpr std::string_view name_of(Scope scope) {
  return kScopeNames[static_cast<std::size_t>(scope)];
}

class Scopes {
 public:
  constexpr Scopes() = default;  // none
  static constexpr Scopes all() { return Scopes(0xf); }

  constexpr bool has(Scope scope) const { return (bits_ & bit(scope)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr void add(Scope scope) { bits_ = static_cast<std::uint8_t>(bits_ | bit(scope)); }
  constexpr void add(Scopes others) { bits_ = static_cast<std::uint8_t>(bits_ | others.bits_); }
  // Returns false for a name that is none of the four.
  constexpr bool add(std::string_view name) {
    for (std::size_t i = 0; i < kScopeNames.size(); ++i) {
      if (kScopeNames[i] != name) continue;
      add(static_cast<Scope>(i));
      return true;
    }
    return false;
  }
  friend constexpr bool operator==(Scopes, Scopes) = default;

 private:
  constexpr explicit Scopes(std::uint8_t bits) : bits_(bits) {}
  static constexpr unsigned bit(Scope scope) { return 1u << static_cast<unsigned>(scope); }
  std::uint8_t bits_ = 0;
};

std::vector<std::string> names_of(Scopes scopes);

// The refusal of a request whose token lacks the scope.
base::Error lacks(Scope scope);
// The scope that such an error is about; nullopt for every other error.
std::optional<Scope> lacked_scope(const base::Error& error);

}  // namespace baton::server
