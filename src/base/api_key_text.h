// The text of an API key: "baton_<id>_<secret><checksum>", each part in base62: an id of 8 characters, 32
// random bytes as 43, and the CRC-32 of all before it as 6. Secret scanners find it by its beginning and its
// checksum.
//
// Threads: any; pure, except that make_api_key takes random numbers.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace baton::base {

using KeyDigest = std::array<unsigned char, 32>;  // SHA-256

struct MadeApiKey {
  std::string id;
  std::string text;    // the whole key
  std::string digest;  // of its secret, in hexadecimal
};
MadeApiKey make_api_key();

// Whether the text begins as API keys do.
bool is_api_key(std::string_view text);

struct ApiKeyParts {
  std::string_view id, secret;  // of the text
};
// Returns nullopt if the text is no whole API key or its checksum is wrong.
std::optional<ApiKeyParts> read_api_key(std::string_view text);

// Whether the text has the form of an id.
bool is_api_key_id(std::string_view text);
// Returns the id in a text that begins as a key does, whole or not: "baton_<id>_...". Empty if it does not.
std::string_view id_in_api_key(std::string_view text);
// Returns the text with "***" in place of what follows the id of each API key, or of a large part of one.
std::string without_api_keys(std::string_view text);

// The key of this id and this secret: 8 and 43 characters.
std::string api_key_text(std::string_view id, std::string_view secret);

KeyDigest digest_of_key(std::string_view secret);
// Returns nullopt if the text is no digest in hexadecimal.
std::optional<KeyDigest> read_key_digest(std::string_view hex);

}  // namespace baton::base
