// Makes untrusted text harmless for terminals, which interpret control characters, and for JSON lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace baton::cli {

// Keeps line ends and tabs. Other control characters become ^X; C1 controls, characters that change the text
// direction, and invalid UTF-8 become U+FFFD.
std::string printable(std::string_view text);

// Like `printable`, but on one line: line ends become spaces.
std::string printable_line(std::string_view text);

// Returns a JSON value on one line, with the same meaning. Line breaks become spaces; DEL, C1 controls and
// characters that change the text direction, which JSON allows in strings, are escaped.
std::string json_line(std::string_view json);

// Replaces the characters of `special`, control characters, characters that change the text direction, and
// bytes that are not UTF-8 with "_".
std::string safe_characters(std::string_view text, std::string_view special);

// Returns the number of terminal columns that printable text takes.
std::size_t width_of(std::string_view text);

// Shortens printable text to `columns`. An ellipsis marks the cut, after a whole word if one ends nearby.
std::string shortened(std::string_view text, std::size_t columns);

// "1 task", "2 tasks".
inline std::string task_count(std::string_view number) {
  return std::string(number) + (number == "1" ? " task" : " tasks");
}
inline std::string task_count(std::int64_t number) {
  return task_count(std::to_string(number));
}

// Quotes a word for a shell, if needed.
std::string shell_word(std::string_view word);

}  // namespace baton::cli
