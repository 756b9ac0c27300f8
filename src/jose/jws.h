// JWS in its compact form (RFC 7515, section 7.1): "<header>.<payload>.<signature>", each base64url.
//
// Refused before a key is looked at: any other form, a text above kJwsBytesMax, a header that is not JSON or
// repeats a member, an `alg` other than ours (never "none" nor an HMAC), `crit`, `b64`, and keys inside the
// header (`jwk`, `jku`, `x5u` are never read). Threads: any; pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "jose/jwk.h"

namespace baton::jose {

// Entra ID writes up to 200 groups into a token, which then has 11 KiB and more.
inline constexpr std::size_t kJwsBytesMax = 16 << 10;

// A JWS whose signature has not been checked.
struct Jws {
  Algorithm algorithm = Algorithm::rs256;
  std::string kid;               // empty: none
  std::string typ;               // empty: none
  std::string payload;           // decoded
  std::string signature;         // decoded
  std::string_view signed_text;  // part of the text that was parsed
};

// The header of a JWS that is not checked: "protected" of the JSON form (RFC 7515, section 7.2).
struct JwsHeader {
  Algorithm algorithm = Algorithm::rs256;
  std::string kid;  // empty: none
  std::string typ;  // empty: none
};
// Reads the base64url of a header. Fails as parse_jws does.
base::Result<JwsHeader> parse_jws_header(std::string_view text);

// Whether the text has the form of one: three parts of base64url. Cheap.
bool looks_like_jws(std::string_view text);

// Fails with invalid_argument; `for_log` has the reason, `for_caller` has none. The text must outlive the
// result.
base::Result<Jws> parse_jws(std::string_view text);

// Whether the key's signature is on the text. False, too, if the key is for another algorithm.
bool is_signed_by(const Jws& jws, const Jwk& key);

// Makes a JWS. `header`: the further members of its header, such as R"("typ":"JOSE")"; may be empty. Fails
// like Key::sign.
base::Result<std::string> sign_jws(const Key& key, Algorithm algorithm, std::string_view header,
                                   std::string_view payload);

}  // namespace baton::jose
