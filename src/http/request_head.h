// HeadParser: strict parser for the heads of requests (RFC 9112).
//
// Refuses every request whose end or meaning two parsers could understand differently: headers must not be
// folded, repeated framing is an error even if both values agree, and an absolute target must name the same
// authority as Host. Accepts, because clients send them, bytes in a target that RFC 3986 wants encoded, and a
// % without two hexadecimal digits.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "http/http_server.h"

namespace baton::http {

// The status and reason of a refusal. The reason is a string literal that may be shown to the caller.
struct Refusal {
  int status;
  std::string_view reason;
};

// A request, and the framing and connection options of its head. The headers with these options
// (Content-Length, Transfer-Encoding, Connection, Expect) are not among the request's headers.
struct ParsedRequest {
  Request request;
  std::size_t body_length = 0;
  bool chunked = false;
  bool http_1_0 = false;
  bool keep_alive = true;
  bool expects_continue = false;

  bool head_method() const { return request.method == "HEAD"; }  // the answer has no body
};

// Reduces a request to the part that the form of a refusal depends on: the request without its body and
// query, and with only those headers that select page, host and version, unless they are long.
Request refusable(const Request& request);

// Parses a head line by line. Pure; one object for each request.
class HeadParser {
 public:
  // Lines are passed without their CRLF and must not contain control characters other than tabs. A returned
  // value refuses the request; add nothing more then.
  std::optional<Refusal> add_request_line(std::string_view line, ParsedRequest& parsed);
  std::optional<Refusal> add_header_line(std::string_view line, ParsedRequest& parsed, const Limits& limits);
  // Call at the blank line: checks the rules that involve several lines.
  std::optional<Refusal> finish(ParsedRequest& parsed);

 private:
  std::optional<Refusal> add_target(std::string_view target, Request& request);
  std::optional<Refusal> add_content_length(std::string_view value, ParsedRequest& parsed);
  std::optional<Refusal> add_transfer_encoding(std::string_view value, ParsedRequest& parsed);
  std::optional<Refusal> add_expectation(std::string_view value, ParsedRequest& parsed);
  std::optional<Refusal> add_host(std::string_view value);
  void add_connection(std::string_view value, ParsedRequest& parsed);

  std::string authority_;  // of an absolute target
  int lines_ = 0;
  bool has_length_ = false;
  bool has_coding_ = false;
  bool has_host_ = false;
  bool has_authorization_ = false;
  bool says_close_ = false;
};

}  // namespace baton::http
