// DigestFilter: Bloom filter over the high halves of digests.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace baton::store::sql {

class DigestFilter {
 public:
  explicit DigestFilter(std::size_t digests) : words_(digests * 3 / 8 + 1) {}
  void add(std::uint64_t digest) { words_[place(digest)] |= bits(digest); }
  bool may_have(std::uint64_t digest) const { return (words_[place(digest)] & bits(digest)) == bits(digest); }

 private:
  std::size_t place(std::uint64_t digest) const { return (digest >> 32) * words_.size() >> 32; }
  // Selects six of the word's 64 bits.
  static std::uint64_t bits(std::uint64_t digest) {
    std::uint64_t six = 0;
    for (int i = 0; i < 6; ++i, digest >>= 6) six |= std::uint64_t{1} << (digest & 63);
    return six;
  }

  std::vector<std::uint64_t> words_;
};

}  // namespace baton::store::sql
