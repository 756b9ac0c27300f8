#include "notify/webhook_key.h"

#include <utility>

#include "base/base64.h"
#include "base/sha256.h"
#include "base/text.h"
#include "jose/signing_key.h"

namespace baton::notify {
namespace {

constexpr std::string_view kSecret = "whsec_", kPrivate = "whsk_", kPublic = "whpk_";
constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::size_t kSecretMin = 24, kSecretMax = 64, kEd25519Size = 32;
// Keys of one config: the one in use, and its successor or predecessor.
constexpr std::size_t kKeysMax = 2;

auto wrong(const char* what) {
  return base::fail(base::ErrorCode::invalid_argument, what);
}

base::Result<jose::Key> read_ed25519(std::string_view base64) {
  const auto bytes = base::decode_base64(base64);
  if (!bytes || (bytes->size() != kEd25519Size && bytes->size() != 2 * kEd25519Size))
    return wrong("whsk_ must be followed by the base64 of 32 or 64 bytes");
  auto key = jose::Key::ed25519_private(std::string_view(*bytes).substr(0, kEd25519Size));
  if (key && bytes->size() > kEd25519Size && key->ed25519_public() != bytes->substr(kEd25519Size))
    return wrong("the private and the public part of the key do not belong together");
  return key;
}

base::Result<jose::Key> key_in(std::string_view text) {
  auto read = jose::read_signing_key(text);
  if (!read) return base::fail(std::move(read.error()));
  return std::move(read->key);
}

}  // namespace

base::Result<WebhookKey> WebhookKey::read(std::string_view text) {
  text = base::trimmed(text);
  if (text.starts_with(kSecret)) {
    auto secret = base::decode_base64(text.substr(kSecret.size()));
    if (!secret || secret->size() < kSecretMin || secret->size() > kSecretMax)
      return wrong("whsec_ must be followed by the base64 of 24 to 64 bytes");
    return hmac(std::move(*secret));
  }
  auto key = text.starts_with(kPrivate) ? read_ed25519(text.substr(kPrivate.size())) : key_in(text);
  if (!key) return base::fail(std::move(key.error()));
  if (key->type() != jose::Key::Type::ed25519) return wrong("the key is not of Ed25519");
  return WebhookKey(std::move(*key));
}

std::string signed_text(std::string_view id, std::string_view timestamp, std::string_view body) {
  std::string text;
  text.reserve(id.size() + timestamp.size() + body.size() + 2);
  text.append(id).append(".").append(timestamp).append(".").append(body);
  return text;
}

std::string WebhookKey::sign(std::string_view text) const {
  if (const auto* const secret = std::get_if<std::string>(&key_))
    return "v1," + base::encode_base64(base::hmac_sha256_bytes(*secret, text));
  const auto signature = std::get<jose::Key>(key_).sign(jose::Algorithm::eddsa, text);
  return "v1a," + base::encode_base64(signature.value_or(""));
}

std::string WebhookKey::public_text() const {
  const auto* const key = std::get_if<jose::Key>(&key_);
  return key ? std::string(kPublic) + base::encode_base64(key->ed25519_public()) : std::string();
}

base::Result<WebhookKeys> keys_in(std::string_view credentials) {
  WebhookKeys keys;
  if (!base::trimmed(credentials).starts_with(kSecret)) {
    keys.push_back(WebhookKey::hmac(std::string(credentials)));
    return keys;
  }
  for (std::string_view rest = base::trimmed(credentials); !rest.empty(); rest = base::trimmed(rest)) {
    const std::string_view word = rest.substr(0, rest.find_first_of(kBlanks));
    rest.remove_prefix(word.size());
    auto key = WebhookKey::read(word);
    if (!key) return base::fail(std::move(key.error()));
    if (keys.size() == kKeysMax) return wrong("there are more than two keys");
    if (!word.starts_with(kSecret)) return wrong("every word of the credentials must be a whsec_ key");
    keys.push_back(std::move(*key));
  }
  return keys;
}

}  // namespace baton::notify
