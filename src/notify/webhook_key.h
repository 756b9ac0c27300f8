// WebhookKey: a key of Standard Webhooks (https://www.standardwebhooks.com), which signs calls of webhooks.
//
// Threads: any; a value.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "jose/key.h"

namespace baton::notify {

class WebhookKey {
 public:
  // A secret for HMAC-SHA256: any bytes.
  static WebhookKey hmac(std::string secret) { return WebhookKey(std::move(secret)); }
  // Reads a key: `whsec_` and the base64 of a secret of 24 to 64 bytes, or an Ed25519 private key: `whsk_`
  // and the base64 of its 32 bytes, with or without the 32 of the public key, or PEM, or a JWK. Fails with
  // invalid_argument; the error has nothing of the text.
  static base::Result<WebhookKey> read(std::string_view text);

  // The signature of a call's signed_text, in the form of the header webhook-signature: "v1,<base64>" for
  // HMAC-SHA256, "v1a,<base64>" for Ed25519.
  std::string sign(std::string_view text) const;
  // What receivers verify an Ed25519 key's signatures with: "whpk_<base64>". Empty for HMAC.
  std::string public_text() const;

 private:
  explicit WebhookKey(std::variant<std::string, jose::Key> key) : key_(std::move(key)) {}

  std::variant<std::string, jose::Key> key_;  // a secret, or an Ed25519 private key
};

using WebhookKeys = std::vector<WebhookKey>;

// What each key of a call signs. `id` has no dot.
std::string signed_text(std::string_view id, std::string_view timestamp, std::string_view body);

// The keys in a config's credentials: one for each word if the words are `whsec_` keys, else the whole text
// is one secret. Fails with invalid_argument if it begins like such a key but is none, or for more than two.
base::Result<WebhookKeys> keys_in(std::string_view credentials);

}  // namespace baton::notify
