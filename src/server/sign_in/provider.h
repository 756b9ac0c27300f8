// Provider: the calls to an authorization server that a sign-in needs.
#pragma once

#include <string>

#include "base/error.h"

namespace baton::server::sign_in {

// What a browser brings back from the authorization server, and what only this server knows of the sign-in.
struct Redemption {
  std::string code;
  std::string verifier;      // of PKCE (RFC 7636)
  std::string redirect_url;  // as in the authorization request
};

// Threads: any. Both functions block for several seconds at most.
class Provider {
 public:
  virtual ~Provider() = default;
  // The URL of the authorization endpoint.
  virtual base::Result<std::string> authorization_url() = 0;
  // Exchanges the code for an ID token.
  virtual base::Result<std::string> redeem(const Redemption& redemption) = 0;
};

}  // namespace baton::server::sign_in
