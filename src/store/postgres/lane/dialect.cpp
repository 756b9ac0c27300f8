#include "store/postgres/lane/dialect.h"

#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace baton::store::postgres {
namespace {

constexpr std::string_view kIndexedBy = "INDEXED BY ";
constexpr std::string_view kInstr = "instr(";
constexpr char kEscape = '\x01';

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Returns the length of the UTF-8 character that begins at `at`; 0 if there is none. Uses PostgreSQL's rules:
// no surrogates, no overlong forms.
std::size_t character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const bool fits = !(first == 0xe0 && byte(1) < 0xa0) && !(first == 0xed && byte(1) > 0x9f);
    return fits && follows(1) && follows(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const bool fits = !(first == 0xf0 && byte(1) < 0x90) && !(first == 0xf4 && byte(1) > 0x8f);
    return fits && follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

// Returns the number of plain bytes at the front of the text: ASCII without control characters. Checks eight
// bytes at a time.
std::size_t plain_start(std::string_view text) {
  constexpr std::uint64_t kHigh = 0x8080808080808080, kLowest = 0x2020202020202020;
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, text.data() + at, 8);
    if ((eight & kHigh) != 0 || ((eight - kLowest) & ~eight & kHigh) != 0) break;
  }
  return at;
}

}  // namespace

std::string translated(std::string_view sql) {
  std::string result;
  result.reserve(sql.size() + 32);
  int places = 0;
  bool is_quoted = false;
  for (std::size_t i = 0; i < sql.size(); ++i) {
    const char c = sql[i];
    if (c == '\'') is_quoted = !is_quoted;
    const bool begins_word = i == 0 || !is_word(sql[i - 1]);
    if (is_quoted) {
      result += c;
    } else if (c == '?') {
      result += '$';
      if (i + 1 == sql.size() || std::isdigit(static_cast<unsigned char>(sql[i + 1])) == 0)
        result += std::to_string(++places);
    } else if (begins_word && sql.substr(i).starts_with(kIndexedBy)) {
      i += kIndexedBy.size();
      while (i + 1 < sql.size() && is_word(sql[i + 1])) ++i;
    } else if (begins_word && sql.substr(i).starts_with(kInstr)) {
      result += "strpos(";
      i += kInstr.size() - 1;
    } else {
      result += c;
    }
  }
  return result;
}

bool needs_escapes(std::string_view text) {
  for (std::size_t at = plain_start(text); at < text.size();) {
    const std::size_t length = character_at(text, at);
    if (length == 0 || text[at] == '\0' || text[at] == kEscape) return true;
    at += length;
    if (length == 1) at += plain_start(text.substr(at));
  }
  return false;
}

std::string escaped(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_at(text, at);
    const auto byte = static_cast<unsigned char>(text[at]);
    if (length == 0) {
      result += {kEscape, '2', kDigits[byte >> 4], kDigits[byte & 15]};
    } else if (byte == 0 || text[at] == kEscape) {
      result += {kEscape, byte == 0 ? '0' : '1'};
    } else {
      result += text.substr(at, length);
    }
    at += length == 0 ? 1 : length;
  }
  return result;
}

std::string unescaped(std::string_view stored) {
  std::string result;
  result.reserve(stored.size());
  for (std::size_t at = 0; at < stored.size(); ++at) {
    const char kind = stored[at] == kEscape && at + 1 < stored.size() ? stored[at + 1] : '\0';
    if (kind == '0' || kind == '1') {
      result += kind == '0' ? '\0' : kEscape;
      ++at;
    } else if (kind == '2' && at + 3 < stored.size()) {
      int byte = 0;
      std::from_chars(stored.data() + at + 2, stored.data() + at + 4, byte, 16);
      result += static_cast<char>(byte);
      at += 3;
    } else {
      result += stored[at];
    }
  }
  return result;
}

}  // namespace baton::store::postgres
