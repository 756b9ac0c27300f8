#include "http/request_head.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "http/http_text.h"

namespace baton::http {
namespace {

constexpr std::size_t kUsualLines = 12;
constexpr std::string_view kAuthorityMarks = "-._~%!$&'()*+,;=:[]";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool cannot_be_in_target(char c) {
  return c == ' ' || c == '\t' || c == '#';
}

// Checks only the characters of uri-host [ ":" port ] (RFC 9110, 7.2).
bool is_authority(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           kAuthorityMarks.find(c) != std::string_view::npos;
  });
}

std::optional<Refusal> read_version(std::string_view version, ParsedRequest& parsed) {
  if (version == "HTTP/1.1") return std::nullopt;
  if (version == "HTTP/1.0") {
    parsed.http_1_0 = true;
    parsed.keep_alive = false;
    return std::nullopt;
  }
  const bool well_formed = version.size() == 8 && version.starts_with("HTTP/") && is_digit(version[5]) &&
                           version[6] == '.' && is_digit(version[7]);
  if (well_formed) return Refusal{505, "only HTTP/1.1 and HTTP/1.0 are supported"};
  return Refusal{400, "the request line is malformed"};
}

void read_query(std::string_view query, Request& request) {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    if (equals == 0) continue;
    const std::string_view value = pair.substr(std::min(equals + 1, pair.size()));
    request.query.emplace_back(query_decoded(pair.substr(0, equals)), query_decoded(value));
  }
}

// Removes the scheme, with "://", from an absolute target. Returns false for a target of another form.
bool remove_scheme(std::string_view& target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!same_word(target.substr(0, scheme.size()), scheme)) continue;
    target.remove_prefix(scheme.size());
    return true;
  }
  return false;
}

}  // namespace

Request refusable(const Request& request) {
  constexpr std::size_t kValueMax = 1'024;
  constexpr std::array<std::string_view, 7> kKept{
      "Origin", "Host", "X-Forwarded-Host", "X-Forwarded-Proto", "Content-Type", "Accept", "A2A-Version"};
  Request kept;
  kept.method = request.method;
  kept.path = request.path;
  kept.raw_path = request.raw_path;
  kept.remote_address = request.remote_address;
  for (const auto& header : request.headers) {
    const auto is_it = [&](std::string_view name) { return same_word(header.first, name); };
    if (header.second.size() <= kValueMax && std::ranges::any_of(kKept, is_it))
      kept.headers.push_back(header);
  }
  return kept;
}

std::optional<Refusal> HeadParser::add_request_line(std::string_view line, ParsedRequest& parsed) {
  const auto first = line.find(' ');
  const auto last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return Refusal{400, "the request line is malformed"};
  const std::string_view method = line.substr(0, first);
  if (!is_token(method)) return Refusal{400, "the method is malformed"};
  parsed.request.method = method;
  if (auto refusal = read_version(line.substr(last + 1), parsed)) return refusal;
  return add_target(line.substr(first + 1, last - first - 1), parsed.request);
}

// Accepts the origin form, the absolute form and, for OPTIONS, the asterisk (RFC 9112, 3.2).
std::optional<Refusal> HeadParser::add_target(std::string_view target, Request& request) {
  constexpr Refusal kMalformed{400, "the request target is malformed"};
  if (target.empty() || std::any_of(target.begin(), target.end(), cannot_be_in_target)) return kMalformed;
  if (remove_scheme(target)) {
    const std::size_t end = std::min(target.find_first_of("/?"), target.size());
    authority_ = target.substr(0, end);
    target.remove_prefix(end);
    if (authority_.empty() || !is_authority(authority_)) return kMalformed;
  } else if (!target.starts_with('/') && !(target == "*" && request.method == "OPTIONS")) {
    return kMalformed;
  }
  const std::size_t path_end = std::min(target.find('?'), target.size());
  request.raw_path = path_end == 0 ? "/" : target.substr(0, path_end);
  request.path = path_decoded(request.raw_path);
  read_query(target.substr(std::min(path_end + 1, target.size())), request);
  return std::nullopt;
}

std::optional<Refusal> HeadParser::add_header_line(std::string_view line, ParsedRequest& parsed,
                                                   const Limits& limits) {
  if (++lines_ > limits.header_lines_max) return Refusal{431, "too many header lines"};
  if (line.front() == ' ' || line.front() == '\t')
    return Refusal{400, "folded header lines are not supported"};
  const auto colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  if (colon == std::string_view::npos || !is_token(name)) return Refusal{400, "a header name is malformed"};
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (same_word(name, "Content-Length")) return add_content_length(value, parsed);
  if (same_word(name, "Transfer-Encoding")) return add_transfer_encoding(value, parsed);
  if (same_word(name, "Expect")) return add_expectation(value, parsed);
  if (same_word(name, "Connection")) {
    add_connection(value, parsed);
    return std::nullopt;
  }
  if (same_word(name, "Authorization") && std::exchange(has_authorization_, true)) {
    return Refusal{400, "more than one Authorization header"};
  }
  if (same_word(name, "Content-Encoding") && !value.empty() && !same_word(value, "identity")) {
    return Refusal{415, "this content coding is not supported; send the body uncompressed"};
  }
  if (same_word(name, "Host")) {
    if (auto refusal = add_host(value)) return refusal;
  }
  auto& headers = parsed.request.headers;
  if (headers.empty()) headers.reserve(kUsualLines);
  headers.emplace_back(name, value);
  return std::nullopt;
}

std::optional<Refusal> HeadParser::add_content_length(std::string_view value, ParsedRequest& parsed) {
  if (has_length_) return Refusal{400, "more than one Content-Length header"};
  has_length_ = true;
  if (value.empty() || !std::all_of(value.begin(), value.end(), is_digit)) {
    return Refusal{400, "Content-Length must be a number"};
  }
  // A body that is too large is refused only at the end of the head, because later headers determine the form
  // of the answer.
  const auto read = std::from_chars(value.data(), value.data() + value.size(), parsed.body_length);
  if (read.ec != std::errc()) parsed.body_length = std::numeric_limits<std::size_t>::max();
  return std::nullopt;
}

std::optional<Refusal> HeadParser::add_transfer_encoding(std::string_view value, ParsedRequest& parsed) {
  if (has_coding_) return Refusal{400, "more than one Transfer-Encoding header"};
  has_coding_ = true;
  parsed.chunked = same_word(value, "chunked");
  if (!parsed.chunked) return Refusal{501, "this transfer coding is not supported"};
  return std::nullopt;
}

std::optional<Refusal> HeadParser::add_expectation(std::string_view value, ParsedRequest& parsed) {
  if (!same_word(value, "100-continue")) return Refusal{417, "only Expect: 100-continue is supported"};
  parsed.expects_continue = true;
  return std::nullopt;
}

std::optional<Refusal> HeadParser::add_host(std::string_view value) {
  if (std::exchange(has_host_, true)) return Refusal{400, "more than one Host header"};
  if (!is_authority(value)) return Refusal{400, "the Host header is malformed"};
  // RFC 9112, 3.2.2, gives precedence to the target's authority. A proxy may have used the Host header
  // instead, so a request where they differ is refused.
  if (!authority_.empty() && !same_word(value, authority_)) {
    return Refusal{400, "the request target and the Host header name different hosts"};
  }
  return std::nullopt;
}

void HeadParser::add_connection(std::string_view value, ParsedRequest& parsed) {
  says_close_ = says_close_ || list_has(value, "close");
  if (parsed.http_1_0 && list_has(value, "keep-alive")) parsed.keep_alive = true;
}

std::optional<Refusal> HeadParser::finish(ParsedRequest& parsed) {
  if (says_close_) parsed.keep_alive = false;
  if (has_coding_ && has_length_)
    return Refusal{400, "Content-Length and Transfer-Encoding must not be combined"};
  if (has_coding_ && parsed.http_1_0) return Refusal{400, "HTTP/1.0 does not support transfer codings"};
  if (!has_host_ && !parsed.http_1_0) return Refusal{400, "the Host header is missing"};
  if (!has_host_ && !authority_.empty()) parsed.request.headers.emplace_back("Host", authority_);
  if (parsed.http_1_0) parsed.expects_continue = false;
  return std::nullopt;
}

}  // namespace baton::http
