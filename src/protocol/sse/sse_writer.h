// Server-sent events (HTML living standard, section 9.2): appends whole blocks to a buffer. LF line ends, one
// space after each colon.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace baton::protocol {

inline void append_sse_field(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).push_back('\n');
}

inline void append_sse_number(std::string& out, std::int64_t id) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, id).ptr;
  append_sse_field(out, "id", std::string_view(digits, static_cast<std::size_t>(end - digits)));
}

// Appends one event. `id` 0 means none. `data` must not have line ends: JSON without white space never has.
inline void append_sse(std::string& out, std::int64_t id, std::string_view data) {
  if (id != 0) append_sse_number(out, id);
  append_sse_field(out, "data", data);
  out.push_back('\n');
}

}  // namespace baton::protocol
