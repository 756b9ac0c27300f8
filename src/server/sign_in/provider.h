// Provider: the calls to an authorization server that a sign-in needs.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"

namespace baton::server::sign_in {

// The code that a browser brings back from the authorization server, and the secrets of its sign-in.
struct Redemption {
  std::string code;
  std::string verifier;      // of PKCE (RFC 7636)
  std::string redirect_url;  // as in the authorization request
};

// Where people sign in.
struct Endpoint {
  std::string url;
  bool names_issuer = false;  // its answers have `iss` (RFC 9207)
};

// Threads: any. `endpoint` and `redeem` block for several seconds at most.
class Provider {
 public:
  virtual ~Provider() = default;
  virtual base::Result<Endpoint> endpoint() = 0;
  // The same if no call is needed for it; else nullopt.
  virtual std::optional<base::Result<Endpoint>> known_endpoint() = 0;
  // Exchanges the code for an ID token.
  virtual base::Result<std::string> redeem(const Redemption& redemption) = 0;
};

}  // namespace baton::server::sign_in
