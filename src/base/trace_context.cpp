#include "base/trace_context.h"

#include <algorithm>
#include <cstdint>

#include "base/hex.h"

namespace baton::base {
namespace {

// "00-<trace id>-<parent id>-<flags>"
constexpr std::size_t kTraceAt = 3, kTraceDigits = 32, kParentAt = 36, kParentDigits = 16, kFlagsAt = 53,
                      kTraceparentSize = 55;
constexpr int kKnownFlags = 3;

bool is_lower_hex(std::string_view text) {
  return text.find_first_not_of(kLowerHex) == std::string_view::npos;
}

// An id of zeros is invalid.
bool is_span_or_trace(std::string_view id) {
  return is_lower_hex(id) && id.find_first_not_of('0') != std::string_view::npos;
}

// Writes the number's 16 hexadecimal digits at offset `at`.
void put_hex(std::string& text, std::size_t at, std::uint64_t number) {
  for (std::size_t i = kParentDigits; i-- > 0; number >>= 4) text[at + i] = kLowerHex[number & 15];
}

// FNV-1a over the texts and their lengths, then the last step of MurmurHash3 to spread the result over all
// digits. The hash is not cryptographic and need not be: it names a span within one trace, and a client that
// provokes a collision could also send that span id directly.
class SpanHash {
 public:
  void add(std::string_view text) {
    for (const char c : text) take(static_cast<unsigned char>(c));
    take(text.size());
  }
  std::uint64_t value() const {
    std::uint64_t mixed = hash_;
    mixed = (mixed ^ (mixed >> 33)) * 0xff51afd7ed558ccdu;
    mixed = (mixed ^ (mixed >> 33)) * 0xc4ceb9fe1a85ec53u;
    return mixed ^ (mixed >> 33);
  }

 private:
  void take(std::uint64_t value) { hash_ = (hash_ ^ value) * 0x100000001b3u; }

  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

}  // namespace

std::string read_traceparent(std::string_view value) {
  const std::size_t first = std::min(value.find_first_not_of(" \t"), value.size());
  value = value.substr(first, value.find_last_not_of(" \t") + 1 - first);
  if (value.size() < kTraceparentSize) return {};
  for (const std::size_t dash : {kTraceAt - 1, kParentAt - 1, kFlagsAt - 1}) {
    if (value[dash] != '-') return {};
  }
  const std::string_view version = value.substr(0, 2), flags = value.substr(kFlagsAt, 2);
  if (!is_lower_hex(version) || version == "ff" || !is_lower_hex(flags)) return {};
  const bool has_more = value.size() > kTraceparentSize;
  if (has_more && (version == "00" || value[kTraceparentSize] != '-')) return {};
  if (!is_span_or_trace(value.substr(kTraceAt, kTraceDigits))) return {};
  if (!is_span_or_trace(value.substr(kParentAt, kParentDigits))) return {};
  std::string read = "00-";
  read += value.substr(kTraceAt, kFlagsAt - kTraceAt);
  read += '0';
  read += kLowerHex[kLowerHex.find(flags[1]) & kKnownFlags];
  return read;
}

std::string traceparent_below(const std::string& traceparent, std::initializer_list<std::string_view> names) {
  if (traceparent.empty()) return {};
  SpanHash hash;
  hash.add(traceparent);
  for (const std::string_view name : names) hash.add(name);
  return traceparent_with_span(traceparent, hash.value());
}

std::string new_traceparent(std::array<std::uint64_t, 2> trace, std::uint64_t span) {
  if (trace[0] == 0) trace[0] = 1;
  std::string made = "00-00000000000000000000000000000000-0000000000000000-01";
  put_hex(made, kTraceAt, trace[0]);
  put_hex(made, kTraceAt + kTraceDigits / 2, trace[1]);
  put_hex(made, kParentAt, span == 0 ? 1 : span);
  return made;
}

std::string traceparent_with_span(const std::string& traceparent, std::uint64_t span) {
  std::string other = traceparent;
  put_hex(other, kParentAt, span == 0 ? 1 : span);
  return other;
}

bool is_sampled(std::string_view traceparent) {
  return !traceparent.empty() && (kLowerHex.find(traceparent.back()) & 1) != 0;
}

std::string_view trace_id_of(std::string_view traceparent) {
  return traceparent.empty() ? traceparent : traceparent.substr(kTraceAt, kTraceDigits);
}

std::string_view span_id_of(std::string_view traceparent) {
  return traceparent.empty() ? traceparent : traceparent.substr(kParentAt, kParentDigits);
}

}  // namespace baton::base
