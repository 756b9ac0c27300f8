#include "base/api_key_text.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>

#include "base/hex.h"
#include "base/id.h"
#include "base/sha256.h"

namespace baton::base {
namespace {

constexpr std::string_view kKeyBegin = "baton_";
constexpr std::string_view kBase62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::size_t kIdSize = 8, kSecretSize = 43, kSumSize = 6;
constexpr std::size_t kSecretAt = kKeyBegin.size() + kIdSize + 1, kSumAt = kSecretAt + kSecretSize;
constexpr int kSecretBytes = 32;
// So many characters after an id are taken for a part of a secret. Names of agents, such as
// "baton_customer_help", are shorter.
constexpr std::size_t kMaskedMin = 16;

constexpr std::array<std::uint32_t, 256> kCrcOfByte = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? 0xedb88320u ^ (crc >> 1) : crc >> 1;
    table[i] = crc;
  }
  return table;
}();

// CRC-32 of ISO-HDLC, as in zip files.
std::uint32_t crc32(std::string_view text) {
  std::uint32_t crc = 0xffffffffu;
  for (const char c : text) crc = kCrcOfByte[(crc ^ static_cast<unsigned char>(c)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

// The number in base62, of exactly `size` digits.
std::string base62(std::uint64_t number, std::size_t size) {
  std::string text(size, '0');
  for (std::size_t i = size; i > 0; --i) {
    text[i - 1] = kBase62[number % 62];
    number /= 62;
  }
  return text;
}

// The bytes as one large number in base62.
std::string base62(KeyDigest bytes, std::size_t size) {
  std::string text(size, '0');
  for (std::size_t i = size; i > 0; --i) {
    unsigned rest = 0;
    for (unsigned char& byte : bytes) {
      const unsigned value = rest << 8 | byte;
      byte = static_cast<unsigned char>(value / 62);
      rest = value % 62;
    }
    text[i - 1] = kBase62[rest];
  }
  return text;
}

bool is_digit(char c) {
  return kBase62.find(c) != std::string_view::npos;
}

}  // namespace

bool is_api_key(std::string_view text) {
  return text.starts_with(kKeyBegin);
}

bool is_api_key_id(std::string_view text) {
  return text.size() == kIdSize && std::ranges::all_of(text, is_digit);
}

std::string_view id_in_api_key(std::string_view text) {
  if (!is_api_key(text) || text.size() < kSecretAt || text[kSecretAt - 1] != '_') return {};
  const std::string_view id = text.substr(kKeyBegin.size(), kIdSize);
  return is_api_key_id(id) ? id : std::string_view();
}

std::string without_api_keys(std::string_view text) {
  std::string masked;
  while (true) {
    const std::size_t at = std::min(text.find(kKeyBegin), text.size());
    masked += text.substr(0, at);
    text.remove_prefix(at);
    if (text.empty()) return masked;
    const std::size_t begin = id_in_api_key(text).empty() ? kKeyBegin.size() : kSecretAt;
    masked += text.substr(0, begin);
    text.remove_prefix(begin);
    const auto end = std::ranges::find_if_not(text, is_digit) - text.begin();
    if (begin != kSecretAt || static_cast<std::size_t>(end) < kMaskedMin) continue;
    masked += "***";
    text.remove_prefix(static_cast<std::size_t>(end));
  }
}

std::string api_key_text(std::string_view id, std::string_view secret) {
  std::string text;
  text.append(kKeyBegin).append(id).append("_").append(secret);
  return text + base62(crc32(text), kSumSize);
}

std::optional<ApiKeyParts> read_api_key(std::string_view text) {
  if (!is_api_key(text) || text.size() != kSumAt + kSumSize || text[kSecretAt - 1] != '_')
    return std::nullopt;
  const ApiKeyParts parts{text.substr(kKeyBegin.size(), kIdSize), text.substr(kSecretAt, kSecretSize)};
  if (!is_api_key_id(parts.id)) return std::nullopt;
  if (text.substr(kSumAt) != base62(crc32(text.substr(0, kSumAt)), kSumSize)) return std::nullopt;
  return parts;
}

KeyDigest digest_of_key(std::string_view secret) {
  KeyDigest digest{};
  std::ranges::copy(sha256_bytes(secret), digest.begin());
  return digest;
}

std::optional<KeyDigest> read_key_digest(std::string_view hex) {
  KeyDigest digest{};
  if (hex.size() != 2 * digest.size()) return std::nullopt;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const std::string_view two = hex.substr(2 * i, 2);
    const auto read = std::from_chars(two.data(), two.data() + 2, digest[i], 16);
    if (read.ec != std::errc() || read.ptr != two.data() + 2) return std::nullopt;
  }
  return digest;
}

MadeApiKey make_api_key() {
  const auto bytes = read_key_digest(random_hex(kSecretBytes));
  if (!bytes) std::abort();
  MadeApiKey made;
  made.id = base62(random_number(), kIdSize);
  const std::string secret = base62(*bytes, kSecretSize);
  made.text = api_key_text(made.id, secret);
  made.digest = hex_of(sha256_bytes(secret));
  return made;
}

}  // namespace baton::base
