// TextMark: a fingerprint of a text (FNV-1a), to check whether another text equals it or begins with it.
// An agent that chooses its texts to that end can make two of them look equal; it garbles only its own
// output.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace baton::agents {

class TextMark {
 public:
  TextMark() = default;
  explicit TextMark(std::string_view text) { add(text); }

  void add(std::string_view text) {
    constexpr std::uint64_t kPrime = 0x100000001b3;
    for (const char c : text) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * kPrime;
    size_ += text.size();
  }
  std::size_t size() const { return size_; }
  // Whether `text` begins with the marked text.
  bool begins(std::string_view text) const {
    return text.size() >= size_ && TextMark(text.substr(0, size_)) == *this;
  }
  friend auto operator<=>(const TextMark&, const TextMark&) = default;

 private:
  std::size_t size_ = 0;
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

}  // namespace baton::agents
