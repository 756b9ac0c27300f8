// Base64: accepts the variants that protocols use and normalizes them to one form.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace baton::base {

// Converts to standard base64 with padding. Accepts the standard and URL-safe alphabets, with or without
// padding, and broken into lines (RFC 2045). Returns nullopt for any other text.
std::optional<std::string> normalize_base64(std::string_view text);

std::string encode_base64(std::string_view bytes);
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace baton::base
