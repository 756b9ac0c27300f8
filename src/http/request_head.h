// HeadParser: strict parser for the heads of requests (RFC 9112).
//
// Wherever two parsers could disagree about where a request ends or what it asks for, the request is refused:
// no header is folded, repeated framing is an error even if both values agree, and an absolute target must
// name the same authority as Host. Tolerated, since clients send them: bytes in a target that RFC 3986 wants
// encoded, and a % that encodes nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "http/http_server.h"

namespace baton::http {

// Why a request is refused. The reason is a string literal that may be shown to the caller.
struct Refusal {
  int status;
  std::string_view reason;
};

// A request, and what its head says about its body and its connection. The headers that say it
// (Content-Length, Transfer-Encoding, Connection, Expect) are not among the request's.
struct ParsedRequest {
  Request request;
  std::size_t body_length = 0;
  bool chunked = false;
  bool http_1_0 = false;
  bool keep_alive = true;
  bool expects_continue = false;

  bool head_method() const { return request.method == "HEAD"; }  // the answer has no body
};

// What the form of a refusal's answer depends on: the request without its body and query, and of its headers
// those that say which page, host and version it is about, unless they are long.
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
