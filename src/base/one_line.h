// Text from outside as a line that people read: a title. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace baton::base {

// The text in one line: each run of white space becomes a space, and none is left at the ends. Control
// characters go, and so do characters that change the direction of text, and bytes that are not UTF-8.
std::string one_line(std::string_view text);

// The number of code points of a UTF-8 text.
std::size_t length_of(std::string_view text);

// The text if it has at most so many code points; else its beginning, which ends with "…" and has as many.
std::string shortened(std::string_view text, std::size_t length_max);

}  // namespace baton::base
