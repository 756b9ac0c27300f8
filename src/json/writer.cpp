#include "json/writer.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace baton::json {
namespace {

// Tells how each byte is written in a JSON string. 0: unchanged; 'u': in the six-character form; any other
// character: a backslash and that character.
constexpr std::array<char, 256> escapes() {
  std::array<char, 256> table{};
  for (int c = 0; c < 0x20; ++c) table[static_cast<std::size_t>(c)] = 'u';
  table['\b'] = 'b';
  table['\f'] = 'f';
  table['\n'] = 'n';
  table['\r'] = 'r';
  table['\t'] = 't';
  table['"'] = '"';
  table['\\'] = '\\';
  return table;
}
constexpr std::array<char, 256> kEscapes = escapes();

// Whether none of eight bytes needs escaping: nothing under 0x20, no quote, no backslash.
bool is_plain(const char* bytes) {
  constexpr std::uint64_t kOnes = 0x0101010101010101u, kHigh = 0x8080808080808080u;
  std::uint64_t eight;
  std::memcpy(&eight, bytes, 8);
  const std::uint64_t quote = eight ^ (kOnes * '"'), backslash = eight ^ (kOnes * '\\');
  const std::uint64_t found =
      ((eight - kOnes * 0x20) & ~eight) | ((quote - kOnes) & ~quote) | ((backslash - kOnes) & ~backslash);
  return (found & kHigh) == 0;
}

// Copies long runs of ordinary bytes in one piece. RapidJSON's writer copies byte by byte, which is slow for
// a megabyte file in base64.
void append_quoted(std::string& out, std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  std::size_t run = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    while (i + 8 <= text.size() && is_plain(text.data() + i)) i += 8;
    const bool is_end = i + 8 > text.size();  // fewer than 8 bytes are left: the last 8 are checked together
    if (i == text.size() || (is_end && text.size() >= 8 && is_plain(text.data() + text.size() - 8))) break;
    const auto byte = static_cast<unsigned char>(text[i]);
    const char escape = kEscapes[byte];
    if (escape == 0) continue;
    out.append(text, run, i - run);
    run = i + 1;
    out += '\\';
    out += escape;
    if (escape == 'u') {
      out += "00";
      out += kHex[byte >> 4];
      out += kHex[byte & 0x0f];
    }
  }
  out.append(text, run, text.size() - run);
  out += '"';
}

}  // namespace

void Writer::separate() {
  if (after_key_) {
    after_key_ = false;
  } else if (!first_) {
    out_ += ',';
  }
  first_ = false;
}

void Writer::open(char bracket) {
  separate();
  out_ += bracket;
  first_ = true;
}

Writer& Writer::close(char bracket) {
  out_ += bracket;
  first_ = false;
  return *this;
}

Writer& Writer::key(std::string_view name) {
  separate();
  append_quoted(out_, name);
  out_ += ':';
  after_key_ = true;
  return *this;
}

Writer& Writer::string(std::string_view text) {
  separate();
  append_quoted(out_, text);
  return *this;
}

Writer& Writer::strings(const std::vector<std::string>& texts) {
  return each(texts, [this](const std::string& text) { string(text); });
}

Writer& Writer::integer(std::int64_t number) {
  separate();
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out_.append(digits.data(), end);
  return *this;
}

Writer& Writer::real(double number) {
  if (!std::isfinite(number)) return null();  // JSON cannot represent it
  separate();
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out_.append(digits.data(), end);
  return *this;
}

Writer& Writer::boolean(bool truth) {
  return raw(truth ? "true" : "false");
}

Writer& Writer::null() {
  return raw("null");
}

Writer& Writer::raw(std::string_view json) {
  separate();
  out_ += json;
  return *this;
}

std::string string_of(std::string_view text) {
  std::string json;
  append_quoted(json, text);
  return json;
}

}  // namespace baton::json
