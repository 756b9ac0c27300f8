// Hexadecimal numbers, in lower case.
#pragma once

#include <string>
#include <string_view>

namespace baton::base {

inline constexpr std::string_view kLowerHex = "0123456789abcdef";

// Two digits for each byte.
inline std::string hex_of(std::string_view bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kLowerHex[byte >> 4];
    text += kLowerHex[byte & 0x0f];
  }
  return text;
}

}  // namespace baton::base
