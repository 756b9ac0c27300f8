// TokenSecret: signs texts that only servers with the same secret can make: sessions, sign-ins under way, and
// pages' tokens of callers that have no token in the configuration.
//
// A signed text is "<payload>.<signature>": base64url of the payload, and HMAC-SHA256 in hexadecimal. A text
// that was signed for one purpose is not valid for another. Threads: any; immutable.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace baton::server {

class TokenSecret {
 public:
  static constexpr std::size_t kSizeMin = 32;

  // Makes a secret of its own.
  TokenSecret();
  // `secret`: at least kSizeMin bytes.
  explicit TokenSecret(std::string secret) : secret_(std::move(secret)) {}

  std::string sign(std::string_view purpose, std::string_view payload) const;
  // The payload of a text that was signed for this purpose; nullopt for any other text.
  std::optional<std::string> payload_of(std::string_view purpose, std::string_view text) const;

 private:
  std::string signature_of(std::string_view purpose, std::string_view encoded) const;

  const std::string secret_;
};

bool equal_in_constant_time(std::string_view given, std::string_view secret);

}  // namespace baton::server
