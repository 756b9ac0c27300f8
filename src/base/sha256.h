// Sha256: a digest of a list of texts. Each counts with its length: no two lists run together.
#pragma once

#include <array>
#include <cstdint>
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
  // For what follows in so many pieces.
  void add(std::uint64_t number);

  // Nothing is added after it. The first 128 bits, as two numbers.
  std::array<std::uint64_t, 2> first_128_bits();

 private:
  void add_bytes(const void* bytes, std::size_t size);
  void digest(const void* bytes, std::size_t size);

  evp_md_ctx_st* const context_;
  // Many of the texts are short, and each call of the library costs more than its bytes.
  std::array<unsigned char, 512> gathered_;
  std::size_t used_ = 0;
};

}  // namespace baton::base
