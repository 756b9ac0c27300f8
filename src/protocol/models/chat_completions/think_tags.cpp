#include "protocol/models/chat_completions/think_tags.h"

#include <algorithm>
#include <utility>

namespace baton::protocol::models::chat_completions {
namespace {

constexpr std::string_view kOpen = "<think>", kClose = "</think>", kSpaces = " \t\r\n";
constexpr std::size_t kSpacesMax = 64;  // before the first tag

// The bytes at the end of `text` that may be the beginning of the closing tag.
std::size_t begun_tag(std::string_view text) {
  std::size_t length = std::min(text.size(), kClose.size() - 1);
  while (!text.ends_with(kClose.substr(0, length))) --length;
  return length;
}

}  // namespace

TaggedThoughts::TaggedThoughts(ThinkTags tags)
    : place_(tags == ThinkTags::text    ? Place::after
             : tags == ThinkTags::begun ? Place::inside
                                        : Place::before) {}

AnswerPiece TaggedThoughts::take(std::string_view text) {
  AnswerPiece piece;
  held_.append(text);
  while (!held_.empty() && step(piece)) {
  }
  return piece;
}

AnswerPiece TaggedThoughts::end() {
  AnswerPiece piece;
  (place_ == Place::inside ? piece.reasoning : piece.text) = std::exchange(held_, {});
  return piece;
}

// Returns whether there may be another step without more text.
bool TaggedThoughts::step(AnswerPiece& piece) {
  const std::size_t first = std::min(held_.find_first_not_of(kSpaces), held_.size());
  if (place_ == Place::before) {
    const std::string_view beginning = std::string_view(held_).substr(first);
    if (beginning.size() < kOpen.size() && kOpen.starts_with(beginning) && first <= kSpacesMax) return false;
    const bool is_open = beginning.starts_with(kOpen);
    if (is_open) held_.erase(0, first + kOpen.size());
    place_ = is_open ? Place::inside : Place::after;
    return true;
  }
  if (place_ == Place::inside) {
    const std::size_t tag = held_.find(kClose);
    const bool is_closed = tag != held_.npos;
    const std::size_t end = is_closed ? tag : held_.size() - begun_tag(held_);
    piece.reasoning.append(held_, 0, end);
    held_.erase(0, end + (is_closed ? kClose.size() : 0));
    if (is_closed) place_ = Place::between;
    return is_closed;
  }
  if (place_ == Place::between) {
    held_.erase(0, first);
    if (!held_.empty()) place_ = Place::after;
    return true;
  }
  piece.text.append(std::exchange(held_, {}));
  return false;
}

}  // namespace baton::protocol::models::chat_completions
