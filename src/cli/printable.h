// Text from others made harmless for a terminal, which obeys control characters, and for lines of JSON.
#pragma once

#include <string>
#include <string_view>

namespace baton::cli {

// Line ends and tabs stay. Other control characters are shown as ^X, C1 controls, characters that turn the
// direction of writing, and broken UTF-8 as U+FFFD.
std::string printable(std::string_view text);

// The same on one line: line ends become spaces.
std::string printable_line(std::string_view text);

// One JSON value as one line with the same meaning: white space that breaks lines becomes spaces, control
// characters that JSON allows in strings (DEL, C1) are escaped.
std::string json_line(std::string_view json);

// A word as a shell reads it back.
std::string shell_word(std::string_view word);

}  // namespace baton::cli
