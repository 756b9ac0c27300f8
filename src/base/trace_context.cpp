#include "base/trace_context.h"

#include <algorithm>
#include <cstdint>

#include "base/sha256.h"

namespace baton::base {
namespace {

// "00-<trace id>-<parent id>-<flags>"
constexpr std::size_t kTraceAt = 3, kTraceDigits = 32, kParentAt = 36, kParentDigits = 16, kFlagsAt = 53,
                      kTraceparentSize = 55;
constexpr int kKnownFlags = 3;

constexpr std::string_view kLowerHex = "0123456789abcdef";

bool is_lower_hex(std::string_view text) {
  return text.find_first_not_of(kLowerHex) == std::string_view::npos;
}

// An id of zeros is none.
bool is_span_or_trace(std::string_view id) {
  return is_lower_hex(id) && id.find_first_not_of('0') != std::string_view::npos;
}

std::string span_id(std::uint64_t number) {
  std::string id(kParentDigits, '0');
  for (auto digit = id.rbegin(); digit != id.rend(); ++digit, number >>= 4) *digit = kLowerHex[number & 15];
  return id;
}

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
  Sha256 sha;
  sha.add(traceparent);
  for (const std::string_view name : names) sha.add(name);
  return traceparent_with_span(traceparent, sha.first_128_bits()[0]);
}

std::string new_traceparent(std::array<std::uint64_t, 2> trace, std::uint64_t span) {
  if (trace[0] == 0) trace[0] = 1;
  return "00-" + span_id(trace[0]) + span_id(trace[1]) + "-" + span_id(span == 0 ? 1 : span) + "-01";
}

std::string traceparent_with_span(const std::string& traceparent, std::uint64_t span) {
  std::string other = traceparent;
  other.replace(kParentAt, kParentDigits, span_id(span == 0 ? 1 : span));
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
