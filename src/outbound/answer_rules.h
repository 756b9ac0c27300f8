// The limits of an answer's lines and head, and what its head says of its end. They hold for both readers:
// our own (answer_parser.h) and cpp-httplib (answer_stream.h).
#pragma once

#include <cstddef>
#include <string_view>

#include "base/error.h"
#include "http/http_text.h"

namespace baton::outbound {

inline constexpr std::size_t kHeadMax = 32 * 1024;
inline constexpr std::size_t kLinesMax = 100;
// cpp-httplib matches the first line with a recursive regular expression: long ones would exhaust the stack.
inline constexpr std::size_t kFirstLineMax = 1024;
inline constexpr std::size_t kLineMax = 8 * 1024;
inline constexpr int kInterimsMax = 16;

// Returns true for an answer without a body, whatever its headers say (RFC 9112, 6.3).
constexpr bool has_no_body(int status) {
  return status < 200 || status == 204 || status == 304;
}

// Returns true if the server keeps the connection open. `has_end`: the answer ends before the stream does.
// `connection`: the header's value.
inline bool stays_open(bool is_http_1_1, bool has_end, std::string_view connection) {
  return is_http_1_1 && has_end && !http::list_has(connection, "close");
}

inline base::Error malformed_answer() {
  return {base::ErrorCode::unavailable, "the server's answer is not valid HTTP or exceeds its limits", {}};
}
inline base::Error no_answer() {
  return {base::ErrorCode::unavailable, "the server sent no valid answer", {}};
}

}  // namespace baton::outbound
