// The digits of hexadecimal numbers, in lower case.
#pragma once

#include <string_view>

namespace baton::base {

inline constexpr std::string_view kLowerHex = "0123456789abcdef";

}  // namespace baton::base
