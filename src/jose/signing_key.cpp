#include "jose/signing_key.h"

#include <utility>

#include "jose/base64url.h"
#include "jose/jwk.h"
#include "json/document.h"

namespace baton::jose {
namespace {

using base::ErrorCode;
using base::fail;

// The key of a private JWK whose public part has been read.
base::Result<Key> private_key(json::Value object, Key::Type type) {
  bool is_good = true;
  const auto bytes = [&](const char* name) {
    const json::Value member = object[name];
    if (member.absent()) return std::string();
    auto decoded = member.is_string() ? decode_base64url(member.string()) : std::nullopt;
    is_good = is_good && decoded;
    return decoded.value_or("");
  };
  const std::string d = bytes("d");
  if (d.empty()) return fail(ErrorCode::invalid_argument, "the key is not private: it has no d");
  const std::string x = bytes("x"), y = bytes("y");
  Key::RsaMembers rsa{bytes("n"), bytes("e"),  d,           bytes("p"),
                      bytes("q"), bytes("dp"), bytes("dq"), bytes("qi")};
  if (!is_good || !object["oth"].absent())
    return fail(ErrorCode::invalid_argument,
                "a member of the key is not base64url, or there are more primes");
  if (type == Key::Type::rsa) return Key::rsa_private(rsa);
  if (type == Key::Type::ed25519) {
    auto key = Key::ed25519_private(d);
    if (!key || key->ed25519_public() == x) return key;
    return fail(ErrorCode::invalid_argument, "the key's private and public members are not a pair");
  }
  return Key::ec_private(type, x, y, d);
}

// Public JWKs say that they verify, private ones that they sign.
base::Result<SigningKey> read_private_jwk(std::string_view text) {
  const auto document = json::Document::parse_view(text, {.depth_max = 5});
  if (!document || !document->root().is_object())
    return fail(ErrorCode::invalid_argument, "the key is neither PEM nor a JWK");
  const json::Value object = document->root();
  const auto jwk = read_jwk(object, KeyUse::sign);
  if (!jwk) return fail(jwk.error());
  auto key = private_key(object, jwk->key.type());
  if (!key) return fail(std::move(key.error()));
  const Algorithm algorithm = jwk->algorithm.value_or(key->algorithm());
  std::string kid = jwk->kid.empty() ? key->thumbprint() : jwk->kid;
  return SigningKey{std::move(*key), algorithm, std::move(kid)};
}

}  // namespace

base::Result<SigningKey> read_signing_key(std::string_view text) {
  if (text.size() > kSigningKeyBytesMax)
    return fail(ErrorCode::invalid_argument, "the key is larger than 64 KiB");
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin != std::string_view::npos && text[begin] == '{') return read_private_jwk(text);
  auto key = Key::from_pem(std::string(text));
  if (!key) return fail(std::move(key.error()));
  if (!key->can_sign()) return fail(ErrorCode::invalid_argument, "the key is not private");
  const Algorithm algorithm = key->algorithm();
  if (algorithm == Algorithm::es384)
    return fail(ErrorCode::invalid_argument, "signatures are made with RSA, P-256 or Ed25519 keys only");
  std::string kid = key->thumbprint();
  return SigningKey{std::move(*key), algorithm, std::move(kid)};
}

}  // namespace baton::jose
