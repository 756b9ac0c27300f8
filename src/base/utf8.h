// UTF-8 (RFC 3629), strictly: no overlong forms, no surrogates, nothing past U+10FFFF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace baton::base {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 0;  // 0: the text does not begin with UTF-8
};
// `text` must not be empty.
CodePoint first_code_point(std::string_view text);

bool is_utf8(std::string_view text);

}  // namespace baton::base
