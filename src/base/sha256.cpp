#include "base/sha256.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/hex.h"

namespace baton::base {
namespace {

// Aborts unless `works`: without its digests OpenSSL is broken, and a wrong digest could collide.
void require(bool works) {
  if (!works) std::abort();
}

// Fetched once: OpenSSL would otherwise look it up for each digest.
const EVP_MD* fetched_sha256() {
  static EVP_MD* const digest = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  require(digest != nullptr);
  return digest;
}

std::uint64_t big_endian(const unsigned char* bytes) {
  std::uint64_t number = 0;
  for (int i = 0; i < 8; ++i) number = number << 8 | bytes[i];
  return number;
}

}  // namespace

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  require(context_ != nullptr && EVP_DigestInit_ex(context_, fetched_sha256(), nullptr) == 1);
}

Sha256::~Sha256() {
  EVP_MD_CTX_free(context_);
}

void Sha256::add(std::string_view text) {
  add(std::uint64_t{text.size()});
  add_bytes(text.data(), text.size());
}

void Sha256::add(std::uint64_t number) {
  unsigned char bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<unsigned char>(number >> (56 - 8 * i));
  add_bytes(bytes, sizeof bytes);
}

void Sha256::add_bytes(const void* bytes, std::size_t size) {
  if (size == 0) return;  // `bytes` may be null
  if (used_ + size > gathered_.size()) digest(gathered_.data(), std::exchange(used_, 0));
  if (size > gathered_.size()) return digest(bytes, size);
  std::memcpy(gathered_.data() + used_, bytes, size);
  used_ += size;
}

void Sha256::digest(const void* bytes, std::size_t size) {
  require(EVP_DigestUpdate(context_, bytes, size) == 1);
}

std::array<std::uint64_t, 2> Sha256::first_128_bits() {
  digest(gathered_.data(), std::exchange(used_, 0));
  unsigned char bytes[EVP_MAX_MD_SIZE];
  require(EVP_DigestFinal_ex(context_, bytes, nullptr) == 1);
  return {big_endian(bytes), big_endian(bytes + 8)};
}

std::string uuid_of(std::initializer_list<std::string_view> texts) {
  Sha256 sha;
  for (const std::string_view text : texts) sha.add(text);
  auto [high, low] = sha.first_128_bits();
  high = (high & ~std::uint64_t{0xf000}) | 0x5000;
  low = (low & ~(std::uint64_t{3} << 62)) | (std::uint64_t{2} << 62);
  std::string text;
  for (std::size_t i = 0; i < 32; ++i) {
    if (i == 8 || i == 12 || i == 16 || i == 20) text += '-';
    text += kLowerHex[((i < 16 ? high : low) >> (60 - 4 * (i % 16))) & 0xf];
  }
  return text;
}

std::string sha256_bytes(std::string_view text) {
  std::string digest(32, '\0');
  require(EVP_Digest(text.data(), text.size(), reinterpret_cast<unsigned char*>(digest.data()), nullptr,
                     fetched_sha256(), nullptr) == 1);
  return digest;
}

std::string hmac_sha256(std::string_view key, std::string_view text) {
  return hex_of(hmac_sha256_bytes(key, text));
}

std::string hmac_sha256_bytes(std::string_view key, std::string_view text) {
  std::string bytes(EVP_MAX_MD_SIZE, '\0');
  unsigned int size = 0;
  require(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
               reinterpret_cast<const unsigned char*>(text.data()), text.size(),
               reinterpret_cast<unsigned char*>(bytes.data()), &size) != nullptr);
  bytes.resize(size);
  return bytes;
}

}  // namespace baton::base
