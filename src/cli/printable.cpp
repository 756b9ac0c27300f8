#include "cli/printable.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>

#include "base/utf8.h"

namespace baton::cli {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool is_c1(std::uint32_t value) {
  return value >= 0x80 && value <= 0x9F;
}

// They can make a line read as something else than it is.
bool turns_direction(std::uint32_t value) {
  return (value >= 0x202A && value <= 0x202E) || (value >= 0x2066 && value <= 0x2069);
}

void append_printable(std::string& out, std::string_view bytes, std::uint32_t value) {
  if (value == '\n' || value == '\t') {
    out += static_cast<char>(value);
  } else if (value < 0x20) {
    out += {'^', static_cast<char>(value + '@')};
  } else if (value == 0x7F) {
    out += "^?";
  } else if (is_c1(value) || turns_direction(value)) {
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
    } else if (next.value == 0x7F || is_c1(next.value)) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(next.value));
      out += escape;
    } else {
      out += json.substr(0, bytes);
    }
    json.remove_prefix(bytes);
  }
  return out;
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
