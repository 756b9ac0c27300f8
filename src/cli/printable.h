// Text from others made harmless for a terminal, which obeys control characters, and for lines of JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace baton::cli {

// Line ends and tabs stay. Other control characters are shown as ^X, C1 controls, characters that turn the
// direction of writing, and broken UTF-8 as U+FFFD.
std::string printable(std::string_view text);

// The same on one line: line ends become spaces.
std::string printable_line(std::string_view text);

// One JSON value as one line with the same meaning: white space that breaks lines becomes spaces; DEL, C1
// controls and characters that turn the direction of writing, which JSON allows in strings, are escaped.
std::string json_line(std::string_view json);

// Every character of `special`, every control character, every character that directs the order of writing
// and every byte that is not UTF-8 becomes "_".
std::string safe_characters(std::string_view text, std::string_view special);

// The terminal columns that printable text takes.
std::size_t width_of(std::string_view text);

// At most `columns` wide; what is cut off is shown by an ellipsis, after a whole word where one is near.
std::string shortened(std::string_view text, std::size_t columns);

// A word as a shell reads it back.
std::string shell_word(std::string_view word);

}  // namespace baton::cli
