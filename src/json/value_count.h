// How many values a JSON text has, without parsing it: for texts of others, before memory is spent on them.
#pragma once

#include <cstddef>
#include <string_view>

namespace baton::json {

// The number of values and member names in a text, or a little more. A Document takes 16 bytes for each
// besides the text (Document::memory). Of a text that is not JSON the number means nothing.
inline std::size_t value_count(std::string_view text) {
  std::size_t count = 1;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      // To the end of the string.
      for (at = text.find_first_of("\"\\", at + 1); at != text.npos && text[at] == '\\';) {
        at = text.find_first_of("\"\\", at + 2);
      }
      if (at == text.npos) return count;
    } else {
      count += c == ',' || c == ':' || c == '[' || c == '{' ? 1 : 0;
    }
  }
  return count;
}

}  // namespace baton::json
