#include "server/admission/token_secret.h"

#include "base/id.h"
#include "base/sha256.h"
#include "jose/base64url.h"

namespace baton::server {

TokenSecret::TokenSecret() : secret_(base::random_hex(kSizeMin)) {}

std::string TokenSecret::signature_of(std::string_view purpose, std::string_view encoded) const {
  return base::hmac_sha256(
      secret_, std::to_string(purpose.size()) + ":" + std::string(purpose) + std::string(encoded));
}

std::string TokenSecret::sign(std::string_view purpose, std::string_view payload) const {
  std::string text = jose::encode_base64url(payload);
  const std::string signature = signature_of(purpose, text);
  return text.append(1, '.').append(signature);
}

std::optional<std::string> TokenSecret::payload_of(std::string_view purpose, std::string_view text) const {
  const std::size_t end = text.rfind('.');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view encoded = text.substr(0, end);
  if (!equal_in_constant_time(text.substr(end + 1), signature_of(purpose, encoded))) return std::nullopt;
  return jose::decode_base64url(encoded);
}

bool equal_in_constant_time(std::string_view given, std::string_view secret) {
  // The length is no secret. A JWT, which is long, need not be compared with each token.
  if (given.size() != secret.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < given.size(); ++i)
    difference |= static_cast<unsigned>(static_cast<unsigned char>(given[i] ^ secret[i]));
  return difference == 0;
}

}  // namespace baton::server
