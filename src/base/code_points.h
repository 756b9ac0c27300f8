// Characters that can make a line look different from its content. Pure.
#pragma once

#include <cstdint>

namespace baton::base {

// A control character: C0, DEL or C1.
constexpr bool is_control(std::uint32_t value) {
  return value < 0x20 || (value >= 0x7F && value <= 0x9F);
}

// Changes the direction of text.
constexpr bool turns_direction(std::uint32_t value) {
  return (value >= 0x202A && value <= 0x202E) || (value >= 0x2066 && value <= 0x2069);
}

}  // namespace baton::base
