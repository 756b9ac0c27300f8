// Pattern: an untrusted regular expression, matched by RE2.
//
// Matching takes time linear in the text: no pattern makes it backtrack. Memory is bounded by kMemory.
// Nothing is logged. Threads: immutable once made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace re2 {
class RE2;
}

namespace baton::json {

class Pattern {
 public:
  static constexpr std::size_t kLengthMax = 512;
  static constexpr std::int64_t kMemory = 256 << 10;

  // Fails with RE2's reason for refusing the pattern.
  static tl::expected<Pattern, std::string> compile(std::string_view pattern);
  // An upper bound for the cost of `compile`, roughly in microseconds, estimated from the pattern's text.
  static std::size_t weight(std::string_view pattern);

  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;
  ~Pattern();

  // Whether the pattern matches anywhere in the text. Costs at most about size() * text.size() * 3 ns.
  bool matches(std::string_view text) const;
  // The number of instructions of the compiled pattern.
  std::size_t size() const;

 private:
  explicit Pattern(std::unique_ptr<const re2::RE2> compiled);
  std::unique_ptr<const re2::RE2> compiled_;
};

}  // namespace baton::json
