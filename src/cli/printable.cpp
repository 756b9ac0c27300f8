#include "cli/printable.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <span>

#include "base/code_points.h"
#include "base/text.h"

namespace baton::cli {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

struct Range {
  std::uint32_t first, last;
};
bool is_in(std::span<const Range> ranges, std::uint32_t value) {
  return std::ranges::any_of(ranges,
                             [&](Range range) { return value >= range.first && value <= range.last; });
}

// Unicode's East Asian Width, in the blocks that matter: W and F take two columns, marks take none.
constexpr std::array kWide{Range{0x1100, 0x115F},   Range{0x2E80, 0x303E},   Range{0x3041, 0xA4CF},
                           Range{0xAC00, 0xD7A3},   Range{0xF900, 0xFAFF},   Range{0xFE30, 0xFE6F},
                           Range{0xFF00, 0xFF60},   Range{0xFFE0, 0xFFE6},   Range{0x1F300, 0x1F64F},
                           Range{0x1F680, 0x1F6FF}, Range{0x1F900, 0x1FAFF}, Range{0x20000, 0x3FFFD}};
constexpr std::array kNoWidth{Range{0x0300, 0x036F}, Range{0x200B, 0x200F}, Range{0x20D0, 0x20FF},
                              Range{0xFE00, 0xFE0F}, Range{0xE0100, 0xE01EF}};

std::size_t columns_of(std::uint32_t value) {
  if (value < 0x300) return 1;
  return is_in(kWide, value) ? 2 : is_in(kNoWidth, value) ? 0 : 1;
}

void append_printable(std::string& out, std::string_view bytes, std::uint32_t value) {
  if (value == '\n' || value == '\t') {
    out += static_cast<char>(value);
  } else if (value < 0x20) {
    out += {'^', static_cast<char>(value + '@')};
  } else if (value == 0x7F) {
    out += "^?";
  } else if (base::is_control(value) || base::turns_direction(value)) {
    out += kReplacement;
  } else {
    out += bytes;
  }
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    if (text.starts_with("\r\n")) text.remove_prefix(1);
    const base::CodePoint next = base::first_code_point(text);
    if (next.bytes == 0) {
      out += kReplacement;
    } else {
      append_printable(out, text.substr(0, next.bytes), next.value);
    }
    text.remove_prefix(std::max<std::size_t>(next.bytes, 1));
  }
  return out;
}

std::string printable_line(std::string_view text) {
  std::string line = printable(text);
  std::ranges::replace(line, '\n', ' ');
  return line;
}

std::string json_line(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  while (!json.empty()) {
    const base::CodePoint next = base::first_code_point(json);
    const std::size_t bytes = std::max<std::size_t>(next.bytes, 1);
    if (next.value == '\n' || next.value == '\r') {
      out += ' ';
    } else if (next.bytes > 0 &&
               (next.value >= 0x7F && (base::is_control(next.value) || base::turns_direction(next.value)))) {
      char escape[12];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(next.value));
      out += escape;
    } else {
      out += json.substr(0, bytes);
    }
    json.remove_prefix(bytes);
  }
  return out;
}

std::string safe_characters(std::string_view text, std::string_view special) {
  constexpr std::uint32_t kLeftToRight = 0x200E, kRightToLeft = 0x200F, kArabicLetter = 0x061C;
  std::string out;
  while (!text.empty()) {
    const base::CodePoint next = base::first_code_point(text);
    const std::size_t bytes = std::max<std::size_t>(next.bytes, 1);
    const bool marks_direction = base::turns_direction(next.value) || next.value == kLeftToRight ||
                                 next.value == kRightToLeft || next.value == kArabicLetter;
    const bool replaced = next.bytes == 0 || base::is_control(next.value) || marks_direction ||
                          special.find(text[0]) != std::string_view::npos;
    out += replaced ? std::string_view("_") : text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return out;
}

std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const base::CodePoint next = base::first_code_point(text);
    width += next.bytes == 0 ? 1 : columns_of(next.value);
    text.remove_prefix(std::max<std::size_t>(next.bytes, 1));
  }
  return width;
}

std::string shortened(std::string_view text, std::size_t columns) {
  if (width_of(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  std::size_t end = 0, width = 0, word_end = 0, word_width = 0;
  while (end < text.size()) {
    const base::CodePoint next = base::first_code_point(text.substr(end));
    const std::size_t wide = next.bytes == 0 ? 1 : columns_of(next.value);
    if (text[end] == ' ') word_end = end, word_width = width;
    if (width + wide > columns - 1) break;
    width += wide;
    end += std::max<std::size_t>(next.bytes, 1);
  }
  // Cut at the end of a word, unless that loses more than a third of the room.
  if (word_width * 3 >= columns * 2) end = word_end;
  return std::string(text.substr(0, end)) + "\xE2\x80\xA6";
}

std::string shell_word(std::string_view word) {
  const bool plain = !word.empty() && std::ranges::all_of(word, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("-_./:@%+,").find(c) != std::string_view::npos;
  });
  if (plain) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace baton::cli
