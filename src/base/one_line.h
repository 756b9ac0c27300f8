// Turns untrusted text into a single line for people, such as a title. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace baton::base {

// Returns the text as one line: each run of white space becomes one space, and white space at both ends is
// removed. So are control characters, characters that change the direction of text, and bytes that are not
// UTF-8.
std::string one_line(std::string_view text);

// The number of code points of a UTF-8 text.
std::size_t length_of(std::string_view text);

// Returns the text if it has at most `length_max` code points. A longer text is cut to that length, with "…"
// as the last code point.
std::string shortened(std::string_view text, std::size_t length_max);

}  // namespace baton::base
