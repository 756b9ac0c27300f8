// Sha256: the digest of a list of texts. Each text is hashed with its length, so that different lists never
// hash the same bytes. sha256_bytes: the plain digest of one text. hmac_sha256: a code that proves to the
// holder of a key that a text comes from another holder of the key.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace baton::base {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void add(std::string_view text);
  // Adds a number, such as the count of the texts that follow.
  void add(std::uint64_t number);

  // Finishes the digest and returns its first 128 bits as two numbers. Nothing may be added afterwards.
  std::array<std::uint64_t, 2> first_128_bits();

 private:
  void add_bytes(const void* bytes, std::size_t size);
  void digest(const void* bytes, std::size_t size);

  evp_md_ctx_st* const context_;
  // Buffers short texts: a call to OpenSSL costs more than hashing their bytes.
  std::array<unsigned char, 512> gathered_;
  std::size_t used_ = 0;
};

// Returns a UUID derived from the texts: equal texts give equal UUIDs. It is marked as version 5
// (name-based). Version 8 would be correct for a digest other than SHA-1, but many validators do not know it.
// Threads: any.
std::string uuid_of(std::initializer_list<std::string_view> texts);

// The 32 bytes of a text's SHA-256. Threads: any.
std::string sha256_bytes(std::string_view text);

// HMAC-SHA256 (RFC 2104) in hexadecimal, lower case. Threads: any.
std::string hmac_sha256(std::string_view key, std::string_view text);
// The 32 bytes of that.
std::string hmac_sha256_bytes(std::string_view key, std::string_view text);

}  // namespace baton::base
