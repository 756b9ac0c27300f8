// Key: a public or private key, and the signatures of JOSE's algorithms with it (RFC 7518, RFC 8037).
//
// Keys that are too weak are no keys: RSA below 2,048 bits or above 8,192, an even exponent or one below 3, a
// point that is not on its curve. Symmetric keys do not exist here, so a public key can never serve as the
// secret of an HMAC. Threads: any; immutable, and copies share one key.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

struct evp_pkey_st;

namespace baton::jose {

// `es384` only verifies: its signatures take 20 times as long as those of `es256`.
enum class Algorithm { rs256, ps256, es256, es384, eddsa };

std::string_view name_of(Algorithm algorithm);
// Returns nullopt for every other name, such as "none" and "HS256".
std::optional<Algorithm> algorithm_named(std::string_view name);

class Key {
 public:
  enum class Type { rsa, p256, p384, ed25519 };

  // A public key from the bytes of its JWK's members: big-endian numbers, for curves of exactly the curve's
  // size. Fails with invalid_argument.
  static base::Result<Key> rsa(std::string_view modulus, std::string_view exponent);
  static base::Result<Key> ec(Type curve, std::string_view x, std::string_view y);
  static base::Result<Key> ed25519(std::string_view x);
  // A private key from such bytes. Fails with invalid_argument, also if the private members do not belong to
  // the public ones.
  struct RsaMembers {
    std::string n, e, d;
    std::string p, q, dp, dq, qi;  // all or none
  };
  static base::Result<Key> rsa_private(const RsaMembers& members);
  static base::Result<Key> ec_private(Type curve, std::string_view x, std::string_view y, std::string_view d);
  static base::Result<Key> ed25519_private(std::string_view d);
  // A private key in PKCS #8 or SEC 1, or a public key. Fails with invalid_argument; the error has nothing of
  // the text.
  static base::Result<Key> from_pem(const std::string& pem);
  // A new private key; RSA has 2,048 bits.
  static base::Result<Key> generate(Type type);

  Type type() const { return type_; }
  // The algorithm that a key of this type signs with by default; for RSA it is RS256, which all readers know.
  Algorithm algorithm() const;
  bool can_sign() const { return is_private_; }
  // Whether signatures of the algorithm are made with keys of this type.
  bool fits(Algorithm algorithm) const;

  // `signature`: as in a JWS, for ECDSA the two numbers. False, too, if the key does not fit.
  bool verifies(Algorithm algorithm, std::string_view text, std::string_view signature) const;
  // Fails with invalid_argument if the key does not fit or is public, or for es384.
  base::Result<std::string> sign(Algorithm algorithm, std::string_view text) const;

  // The key's public members as a JSON object without blanks, in the order of RFC 7638, section 3.2.
  std::string public_members() const;
  // The 32 bytes of an Ed25519 public key; empty for other types.
  std::string ed25519_public() const;
  // The key's name: the base64url of the SHA-256 of those (RFC 7638).
  std::string thumbprint() const;

 private:
  using Handle = std::shared_ptr<evp_pkey_st>;  // shared by all copies of a key
  Key(Handle handle, Type type, bool is_private)
      : handle_(std::move(handle)), type_(type), is_private_(is_private) {}
  static base::Result<Key> checked(Handle handle, bool is_private);
  static base::Result<Key> paired(Handle handle, const base::Result<Key>& with, Algorithm algorithm);

  Handle handle_;
  Type type_;
  bool is_private_;
};

}  // namespace baton::jose
