#include "base/base64.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace baton::base {
namespace {

constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Maps each character of either alphabet to its six bits, all others to -1.
constexpr std::array<std::int8_t, 256> values() {
  std::array<std::int8_t, 256> table{};
  for (auto& value : table) value = -1;
  for (int i = 0; i < 64; ++i) table[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::int8_t>(i);
  table['-'] = 62;
  table['_'] = 63;
  return table;
}
constexpr std::array<std::int8_t, 256> kValues = values();

// Returns the text without its padding, or nullopt if it is not base64.
std::optional<std::string_view> digits_of(std::string_view text) {
  std::string_view digits = text;
  while (!digits.empty() && digits.back() == '=' && text.size() - digits.size() < 2) digits.remove_suffix(1);
  const bool padded = digits.size() != text.size();
  if (digits.size() % 4 == 1 || (padded && text.size() % 4 != 0)) return std::nullopt;
  for (const char c : digits) {
    if (kValues[static_cast<unsigned char>(c)] < 0) return std::nullopt;
  }
  return digits;
}

// Returns the text without line breaks. If it has any, the result is stored in `whole` and refers to it.
std::string_view without_breaks(std::string_view text, std::string& whole) {
  constexpr std::string_view kBreaks = "\r\n";
  if (text.find_first_of(kBreaks) == std::string_view::npos) return text;
  whole.reserve(text.size());
  for (const char c : text) {
    if (kBreaks.find(c) == std::string_view::npos) whole += c;
  }
  return whole;
}

}  // namespace

std::optional<std::string> normalize_base64(std::string_view text) {
  std::string whole;
  const auto digits = digits_of(without_breaks(text, whole));
  if (!digits) return std::nullopt;
  std::string normal(*digits);
  for (char& c : normal) {
    if (c == '-') c = '+';
    if (c == '_') c = '/';
  }
  const std::size_t padding = (4 - normal.size() % 4) % 4;
  if (padding != 0) {
    // Strict readers refuse a last character with bits beyond the last byte.
    const int value = kValues[static_cast<unsigned char>(normal.back())];
    normal.back() = kAlphabet[value & (padding == 1 ? 0x3c : 0x30)];
  }
  normal.append(padding, '=');
  return normal;
}

std::string encode_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    const std::size_t have = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t j = 0; j < 3; ++j) {
      group = group << 8 | (j < have ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      text += j <= have ? kAlphabet[group >> (18 - 6 * j) & 63] : '=';
    }
  }
  return text;
}

std::optional<std::string> decode_base64(std::string_view text) {
  std::string whole;
  const auto digits = digits_of(without_breaks(text, whole));
  if (!digits) return std::nullopt;
  std::string bytes;
  bytes.reserve(digits->size() * 3 / 4);
  std::uint32_t group = 0;
  int bits = 0;
  for (const char c : *digits) {
    group = group << 6 | static_cast<std::uint32_t>(kValues[static_cast<unsigned char>(c)]);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(group >> bits & 0xff);
  }
  return bytes;
}

}  // namespace baton::base
