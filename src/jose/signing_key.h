// SigningKey: a private key as an operator gives it, and how signatures are made with it.
//
// Threads: any; pure.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "jose/key.h"

namespace baton::jose {

struct SigningKey {
  Key key;
  Algorithm algorithm = Algorithm::rs256;
  std::string kid;  // the JWK's own, or else the key's thumbprint
};

inline constexpr std::size_t kSigningKeyBytesMax = 64 << 10;

// Reads PEM (Key::from_pem) or a private JWK. The algorithm is the JWK's `alg`, or else RS256, ES256 or EdDSA
// by the key's type. Fails with invalid_argument if it is neither, is public, or makes no signatures; the
// error has nothing of the text.
base::Result<SigningKey> read_signing_key(std::string_view text);

}  // namespace baton::jose
