#include "server/http/request_head.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "server/http/http_text.h"

namespace baton::server::http {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::optional<Refusal> read_version(std::string_view version, RequestHead& head) {
  if (version == "HTTP/1.1") return std::nullopt;
  if (version == "HTTP/1.0") {
    head.http_1_0 = true;
    head.keep_alive = false;
    return std::nullopt;
  }
  const bool well_formed = version.size() == 8 && version.starts_with("HTTP/") && is_digit(version[5]) &&
                           version[6] == '.' && is_digit(version[7]);
  if (well_formed) return Refusal{505, "only HTTP/1.1 and HTTP/1.0 are spoken here"};
  return Refusal{400, "the request line is malformed"};
}

}  // namespace

std::optional<Refusal> HeadReader::add_request_line(std::string_view line, RequestHead& head) {
  const auto first = line.find(' ');
  const auto last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return Refusal{400, "the request line is malformed"};
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  if (!is_token(method)) return Refusal{400, "the method is not a token"};
  if (target.empty() || target.find_first_of(" \t") != std::string_view::npos) {
    return Refusal{400, "the request target is malformed"};
  }
  head.head_method = method == "HEAD";
  return read_version(line.substr(last + 1), head);
}

std::optional<Refusal> HeadReader::add_header_line(std::string_view line, RequestHead& head,
                                                   const Limits& limits) {
  if (++lines_ > limits.header_lines_max) return Refusal{431, "too many header lines"};
  if (line.front() == ' ' || line.front() == '\t') return Refusal{400, "a header line is folded"};
  const auto colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  if (colon == std::string_view::npos || !is_token(name)) return Refusal{400, "a header name is not a token"};
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (same_word(name, "Content-Length")) return add_content_length(value, head, limits);
  if (same_word(name, "Transfer-Encoding")) return add_transfer_encoding(value, head);
  if (same_word(name, "Connection")) add_connection(value, head);
  if (same_word(name, "Expect")) {
    if (!same_word(value, "100-continue")) return Refusal{417, "this expectation cannot be met"};
    head.expects_continue = true;
  }
  if (same_word(name, "Authorization") && std::exchange(has_authorization_, true)) {
    return Refusal{400, "more than one Authorization header"};
  }
  if (same_word(name, "Content-Encoding") && !value.empty() && !same_word(value, "identity")) {
    return Refusal{415, "this content coding is not understood; send the body as it is"};
  }
  if (same_word(name, "Host")) {
    if (has_host_) return Refusal{400, "more than one Host header"};
    has_host_ = true;
  }
  return std::nullopt;
}

std::optional<Refusal> HeadReader::add_content_length(std::string_view value, RequestHead& head,
                                                      const Limits& limits) {
  if (has_length_) return Refusal{400, "more than one Content-Length header"};
  has_length_ = true;
  if (value.empty() || !std::all_of(value.begin(), value.end(), is_digit)) {
    return Refusal{400, "the Content-Length is not a number"};
  }
  const auto parsed = std::from_chars(value.data(), value.data() + value.size(), head.body_length);
  if (parsed.ec != std::errc() || head.body_length > limits.body_max) {
    return Refusal{413, "the body is too large"};
  }
  return std::nullopt;
}

std::optional<Refusal> HeadReader::add_transfer_encoding(std::string_view value, RequestHead& head) {
  if (has_coding_) return Refusal{400, "more than one Transfer-Encoding header"};
  has_coding_ = true;
  head.chunked = same_word(value, "chunked");
  if (!head.chunked) return Refusal{501, "this transfer coding is not supported"};
  return std::nullopt;
}

void HeadReader::add_connection(std::string_view value, RequestHead& head) {
  says_close_ = says_close_ || list_has(value, "close");
  if (head.http_1_0 && list_has(value, "keep-alive")) head.keep_alive = true;
}

std::optional<Refusal> HeadReader::finish(RequestHead& head) const {
  if (says_close_) head.keep_alive = false;
  if (has_coding_ && has_length_) return Refusal{400, "Content-Length together with Transfer-Encoding"};
  if (has_coding_ && head.http_1_0) return Refusal{400, "HTTP/1.0 has no transfer codings"};
  if (!has_host_ && !head.http_1_0) return Refusal{400, "the Host header is missing"};
  if (head.http_1_0) head.expects_continue = false;
  return std::nullopt;
}

}  // namespace baton::server::http
