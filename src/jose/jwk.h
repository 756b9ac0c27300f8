// JWK sets: the public keys of an issuer (RFC 7517).
//
// Threads: any; pure functions and values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "jose/key.h"
#include "json/document.h"

namespace baton::jose {

struct Jwk {
  Key key;
  std::string kid;                     // empty: it has none
  std::optional<Algorithm> algorithm;  // the only one the key is for; nullopt: it names none

  // Whether signatures of the algorithm may be verified with the key.
  bool serves(Algorithm wanted) const { return key.fits(wanted) && (!algorithm || *algorithm == wanted); }
};

// The use of a key. If the key has `key_ops`, they must list it.
enum class KeyUse { verify, sign };

// Reads a public key to verify signatures with. Fails with invalid_argument: an unknown `kty`, `crv` or
// `alg`, `use` other than "sig", `key_ops` without the use, members that are repeated, more than 64 or not
// strict base64url, weak keys (key.h). Private members are ignored.
base::Result<Jwk> read_jwk(json::Value object, KeyUse use = KeyUse::verify);

struct JwkSet {
  std::vector<Jwk> keys;
  std::size_t ignored = 0;  // keys that are not for verifying signatures here

  // The keys that may have signed with the algorithm: those of the name, or every key if `kid` is empty.
  std::vector<const Jwk*> candidates(std::string_view kid, Algorithm algorithm) const;
  bool has(std::string_view kid) const;
};

inline constexpr std::size_t kJwkSetBytesMax = 256 << 10, kJwkSetKeysMax = 64;

// Reads {"keys": [...]} and leaves out the keys that read_jwk refuses. Fails with invalid_argument if the
// text is no set, is too large, has more than kJwkSetKeysMax keys, or no usable one.
base::Result<JwkSet> read_jwk_set(std::string_view text);

// Reads the public keys of a file: a set, one JWK, or PEM. Fails like read_jwk_set.
base::Result<JwkSet> read_public_keys(const std::string& text);

// The public key as a JWK: its members, `kid` = the thumbprint, `use` and `alg`.
std::string write_jwk(const Key& key, Algorithm algorithm);

}  // namespace baton::jose
