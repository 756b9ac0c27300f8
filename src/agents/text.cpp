#include "agents/text.h"

#include <cstdint>
#include <cstdio>

#include "base/code_points.h"
#include "base/text.h"

namespace baton::agents {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

struct Sequence {
  enum class Kind { character, broken, unfinished };
  Kind kind;
  std::size_t size;  // bytes to take; if broken, those that cannot begin another sequence
};

// How many bytes follow `lead`, and which first of these are allowed (RFC 3629, section 4).
struct Lead {
  int following;
  unsigned char low, high;
};

Lead lead_of(unsigned char byte) {
  if (byte >= 0xC2 && byte <= 0xDF) return {1, 0x80, 0xBF};
  if (byte == 0xE0) return {2, 0xA0, 0xBF};
  if (byte == 0xED) return {2, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {2, 0x80, 0xBF};
  if (byte == 0xF0) return {3, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3) return {3, 0x80, 0xBF};
  if (byte == 0xF4) return {3, 0x80, 0x8F};
  return {-1, 0, 0};
}

// The first sequence of `bytes`, which must not be empty.
Sequence next_sequence(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  if (byte(0) < 0x80) return {Sequence::Kind::character, 1};
  const Lead lead = lead_of(byte(0));
  if (lead.following < 0) return {Sequence::Kind::broken, 1};
  const auto size = static_cast<std::size_t>(lead.following) + 1;
  for (std::size_t i = 1; i < size; ++i) {
    if (i >= bytes.size()) return {Sequence::Kind::unfinished, i};
    const unsigned char low = i == 1 ? lead.low : 0x80;
    const unsigned char high = i == 1 ? lead.high : 0xBF;
    if (byte(i) < low || byte(i) > high) return {Sequence::Kind::broken, i};
  }
  return {Sequence::Kind::character, size};
}

}  // namespace

std::string Utf8Stream::feed(std::string_view bytes) {
  std::string joined;
  if (!held_.empty()) {
    joined = held_ + std::string(bytes);
    held_.clear();
    bytes = joined;
  }
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const Sequence sequence = next_sequence(bytes);
    if (sequence.kind == Sequence::Kind::unfinished) {
      held_ = bytes;
      break;
    }
    text += sequence.kind == Sequence::Kind::broken ? kReplacement : bytes.substr(0, sequence.size);
    bytes.remove_prefix(sequence.size);
  }
  return text;
}

std::string Utf8Stream::finish() {
  const bool broken = !held_.empty();
  held_.clear();
  return broken ? std::string(kReplacement) : std::string();
}

std::string escaped(std::string_view bytes, std::size_t size_max) {
  std::string text;
  while (!bytes.empty()) {
    const Sequence sequence = next_sequence(bytes);
    const std::uint32_t value = base::first_code_point(bytes).value;
    const bool plain = sequence.kind == Sequence::Kind::character && !base::is_control(value) &&
                       !base::turns_direction(value);
    std::string piece(bytes.substr(0, plain ? sequence.size : 1));
    if (!plain) {
      char code[8];
      std::snprintf(code, sizeof code, "\\x%02x",
                    static_cast<unsigned>(static_cast<unsigned char>(bytes[0])));
      piece = code;
    }
    if (text.size() + piece.size() > size_max) return text + "...";
    text += piece;
    bytes.remove_prefix(plain ? sequence.size : 1);
  }
  return text;
}

}  // namespace baton::agents
