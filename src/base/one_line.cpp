#include "base/one_line.h"

#include <algorithm>
#include <cstdint>

#include "base/code_points.h"
#include "base/text.h"

namespace baton::base {
namespace {

// Includes invisible characters that separate words, such as U+200B and U+FEFF.
bool is_space(std::uint32_t value) {
  return value == ' ' || (value >= '\t' && value <= '\r') || value == 0x85 || value == 0xA0 ||
         value == 0x1680 || (value >= 0x2000 && value <= 0x200B) || value == 0x2028 || value == 0x2029 ||
         value == 0x202F || value == 0x205F || value == 0x3000 || value == 0xFEFF;
}

bool is_direction_mark(std::uint32_t value) {
  return value == 0x061C || value == 0x200E || value == 0x200F || turns_direction(value);
}

bool begins_code_point(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string line;
  bool has_gap = false;
  while (!text.empty()) {
    const CodePoint next = first_code_point(text);
    const std::size_t bytes = std::max<std::size_t>(next.bytes, 1);
    const std::string_view character = text.substr(0, bytes);
    text.remove_prefix(bytes);
    if (next.bytes > 0 && is_space(next.value)) {
      has_gap = true;
    } else if (next.bytes > 0 && !is_control(next.value) && !is_direction_mark(next.value)) {
      if (has_gap && !line.empty()) line += ' ';
      has_gap = false;
      line += character;
    }
  }
  return line;
}

std::size_t length_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_code_point));
}

std::string shortened(std::string_view text, std::size_t length_max) {
  if (length_of(text) <= length_max) return std::string(text);
  std::size_t end = 0;
  for (std::size_t length = 0; length + 1 < length_max; ++length)
    end += first_code_point(text.substr(end)).bytes;
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace baton::base
