#include "base/text.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace baton::base {

namespace {

using Table = std::array<bool, 256>;

// ASCII letters, digits and `marks`.
constexpr Table make_table(std::string_view marks) {
  Table table{};
  for (char c = 'a'; c <= 'z'; ++c) table[static_cast<unsigned char>(c)] = true;
  for (char c = 'A'; c <= 'Z'; ++c) table[static_cast<unsigned char>(c)] = true;
  for (char c = '0'; c <= '9'; ++c) table[static_cast<unsigned char>(c)] = true;
  for (const char c : marks) table[static_cast<unsigned char>(c)] = true;
  return table;
}

constexpr Table kToken = make_table("!#$%&'*+-.^_`|~");
constexpr Table kUnreserved = make_table("-._~");

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

}  // namespace

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return kToken[c]; });
}

bool same_word(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

bool begins_with(std::string_view text, std::string_view beginning) {
  return same_word(text.substr(0, beginning.size()), beginning);
}

bool contains(std::string_view text, std::string_view part) {
  if (part.empty() || part.size() > text.size()) return part.empty();
  return ::memmem(text.data(), text.size(), part.data(), part.size()) != nullptr;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

std::string essence_of(std::string_view media_type) {
  constexpr std::string_view kSpaces = " \t";
  media_type = media_type.substr(0, media_type.find(';'));
  media_type.remove_prefix(std::min(media_type.find_first_not_of(kSpaces), media_type.size()));
  std::string essence(media_type.substr(0, media_type.find_last_not_of(kSpaces) + 1));
  for (char& c : essence) c = lower(c);
  return essence;
}

std::size_t web_scheme(std::string_view url) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (begins_with(url, scheme)) return scheme.size();
  }
  return 0;
}

std::string_view without_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  return text;
}

std::string comma_separated(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string counted(std::int64_t number, std::string_view one, std::string_view several) {
  std::string text = std::to_string(number) + " ";
  if (number == 1) return text.append(one);
  return several.empty() ? text.append(one).append("s") : text.append(several);
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (kUnreserved[byte]) {
      out += c;
    } else {
      out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return out;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    unsigned byte = 0;
    if (i + 2 >= text.size()) return std::nullopt;
    const auto [end, error] = std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16);
    if (error != std::errc() || end != text.data() + i + 3) return std::nullopt;
    out.push_back(static_cast<char>(byte));
    i += 2;
  }
  return out;
}

CodePoint first_code_point(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  std::uint32_t value = lead & (0xFFu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3F);
  }
  const bool overlong = (bytes == 3 && value < 0x800) || (bytes == 4 && value < 0x10000);
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (overlong || surrogate || value > 0x10FFFF) return {};
  return {value, bytes};
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const CodePoint next = first_code_point(text);
    if (next.bytes == 0) return false;
    text.remove_prefix(next.bytes);
  }
  return true;
}

std::string replaced_utf8(std::string_view text) {
  if (is_utf8(text)) return std::string(text);
  std::string replaced;
  while (!text.empty()) {
    const std::size_t bytes = first_code_point(text).bytes;
    replaced.append(bytes > 0 ? text.substr(0, bytes) : std::string_view("\xEF\xBF\xBD"));
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return replaced;
}

std::string_view beginning_of(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

// Optimal string alignment, three rows at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

std::string nearest_name(std::string_view name, std::span<const std::string> names) {
  // Skips long names: the time is quadratic in the length, and no misspelt name is longer than this.
  if (name.size() > 64) return {};
  std::size_t best = std::max<std::size_t>(2, name.size() / 3) + 1;
  std::string found;
  for (const std::string& known : names) {
    const std::size_t distance = edit_distance(name, known);
    // Requires fewer changes than letters: otherwise every short name would be near.
    if (distance < best && distance < known.size()) {
      best = distance;
      found = known;
    }
  }
  return found;
}

}  // namespace baton::base
