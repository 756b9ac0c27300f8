#include "json/pattern.h"

#include <re2/re2.h>

#include <algorithm>

namespace baton::json {

tl::expected<Pattern, std::string> Pattern::compile(std::string_view pattern) {
  if (pattern.size() > kLengthMax)
    return tl::unexpected("it is longer than " + std::to_string(kLengthMax) + " bytes");
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMemory);
  auto compiled = std::make_unique<const RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
  if (!compiled->ok()) return tl::unexpected(compiled->error());
  return Pattern(std::move(compiled));
}

// A Unicode class such as \pL has hundreds of ranges and takes about 80 us; any other character takes one or
// two.
std::size_t Pattern::weight(std::string_view pattern) {
  std::size_t classes = 0;
  for (std::size_t i = 0; i + 1 < pattern.size(); ++i)
    classes += pattern[i] == '\\' && (pattern[i + 1] == 'p' || pattern[i + 1] == 'P') ? 1 : 0;
  return pattern.size() * 2 + classes * 100;
}

Pattern::Pattern(std::unique_ptr<const RE2> compiled) : compiled_(std::move(compiled)) {}
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;
Pattern::~Pattern() = default;

bool Pattern::matches(std::string_view text) const {
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *compiled_);
}

std::size_t Pattern::size() const {
  return static_cast<std::size_t>(std::max(compiled_->ProgramSize(), 1));
}

}  // namespace baton::json
