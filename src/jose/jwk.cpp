#include "jose/jwk.h"

#include <algorithm>

#include "jose/base64url.h"

namespace baton::jose {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::size_t kKidMax = 512;
constexpr std::size_t kKeyMembersMax = 64;  // each is compared with all others

base::Result<Key> read_key(json::Value object) {
  const auto bytes = [&](const char* name) {
    return object[name].is_string() ? decode_base64url(object[name].string()) : std::nullopt;
  };
  const std::string_view type = object["kty"].string(), curve = object["crv"].string();
  const auto no_bytes = fail(ErrorCode::invalid_argument, "a member of the key is not base64url");
  if (type == "RSA") {
    const auto n = bytes("n"), e = bytes("e");
    return n && e ? Key::rsa(*n, *e) : no_bytes;
  }
  const auto x = bytes("x");
  if (type == "EC" && (curve == "P-256" || curve == "P-384")) {
    const auto y = bytes("y");
    return x && y ? Key::ec(curve == "P-256" ? Key::Type::p256 : Key::Type::p384, *x, *y) : no_bytes;
  }
  if (type == "OKP" && curve == "Ed25519") return x ? Key::ed25519(*x) : no_bytes;
  return fail(ErrorCode::invalid_argument, "the key's kty or crv is unknown");
}

bool lists(json::Value operations, std::string_view wanted) {
  for (const json::Value each : operations) {
    if (each.string() == wanted) return true;
  }
  return operations.absent();
}

}  // namespace

base::Result<Jwk> read_jwk(json::Value object, KeyUse wanted) {
  if (!object.is_object()) return fail(ErrorCode::invalid_argument, "a key must be an object");
  if (object.size() > kKeyMembersMax)
    return fail(ErrorCode::invalid_argument, "the key has more than 64 members");
  for (const json::Value member : object) {
    if (object.repeats(member.key()))
      return fail(ErrorCode::invalid_argument, "a member of the key is repeated");
  }
  const json::Value use = object["use"], kid = object["kid"], alg = object["alg"], ops = object["key_ops"];
  if (!use.absent() && use.string() != "sig")
    return fail(ErrorCode::invalid_argument, "the key is not for signatures (use)");
  const char* const operation = wanted == KeyUse::verify ? "verify" : "sign";
  if ((!ops.absent() && !ops.is_array()) || !lists(ops, operation))
    return fail(ErrorCode::invalid_argument,
                "the key is not to " + std::string(operation) + " with (key_ops)");
  if ((!kid.absent() && !kid.is_string()) || kid.string().size() > kKidMax)
    return fail(ErrorCode::invalid_argument, "kid must be a string of at most 512 bytes");
  auto key = read_key(object);
  if (!key) return fail(std::move(key.error()));
  Jwk read{std::move(*key), kid.str(), std::nullopt};
  if (alg.absent()) return read;
  read.algorithm = algorithm_named(alg.string());
  if (!read.algorithm || !read.key.fits(*read.algorithm))
    return fail(ErrorCode::invalid_argument, "the key's alg is unknown, or not one of its kty");
  return read;
}

std::vector<const Jwk*> JwkSet::candidates(std::string_view kid, Algorithm algorithm) const {
  std::vector<const Jwk*> found;
  for (const Jwk& each : keys) {
    if ((kid.empty() || each.kid == kid) && each.serves(algorithm)) found.push_back(&each);
  }
  return found;
}

bool JwkSet::has(std::string_view kid) const {
  return std::ranges::find(keys, kid, &Jwk::kid) != keys.end();
}

base::Result<JwkSet> read_jwk_set(std::string_view text) {
  if (text.size() > kJwkSetBytesMax)
    return fail(ErrorCode::invalid_argument, "the key set is larger than 256 KiB");
  const auto document = json::Document::parse_view(text, {.depth_max = 10});
  if (!document) return fail(ErrorCode::invalid_argument, "the key set is not JSON");
  const json::Value keys = document->root()["keys"];
  if (!keys.is_array() || document->root().repeats("keys"))
    return fail(ErrorCode::invalid_argument, "the key set has no list `keys`");
  if (keys.size() > kJwkSetKeysMax)
    return fail(ErrorCode::invalid_argument, "the key set has more than 64 keys");
  JwkSet set;
  for (const json::Value each : keys) {
    if (auto key = read_jwk(each)) {
      set.keys.push_back(std::move(*key));
    } else {
      ++set.ignored;
    }
  }
  if (set.keys.empty()) return fail(ErrorCode::invalid_argument, "the key set has no usable key");
  return set;
}

base::Result<JwkSet> read_public_keys(const std::string& text) {
  const auto document = json::Document::parse_view(text, {.depth_max = 10});
  if (document && document->root()["kty"].missing()) return read_jwk_set(text);
  JwkSet set;
  if (document) {
    auto key = read_jwk(document->root());
    if (!key) return fail(std::move(key.error()));
    set.keys.push_back(std::move(*key));
    return set;
  }
  auto key = Key::from_pem(text);
  if (!key) return fail(std::move(key.error()));
  std::string kid = key->thumbprint();
  set.keys.push_back({std::move(*key), std::move(kid), std::nullopt});
  return set;
}

std::string write_jwk(const Key& key, Algorithm algorithm) {
  std::string text = key.public_members();
  text.pop_back();
  text.append(R"(,"kid":")").append(key.thumbprint()).append(R"(","use":"sig","alg":")");
  return text.append(name_of(algorithm)).append(R"("})");
}

}  // namespace baton::jose
