// Base64 as protocols carry it: read leniently, kept in one form.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace baton::wire {

// The same bytes in standard base64 with padding. Takes standard and URL-safe alphabets, with or without
// padding; nothing for anything else.
std::optional<std::string> normalize_base64(std::string_view text);

std::string encode_base64(std::string_view bytes);
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace baton::wire
