// RequestHead: the parts of a request's head that the connection layer needs: where the request ends and
// whether the connection stays open. Everything else is left to the library (library_request.h).
//
// The rules are stricter than the library's wherever two parsers of the same bytes could disagree about the
// end of a request (RFC 9112, sections 2.2, 5 and 6).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "server/http/http_server.h"

namespace baton::server::http {

// Why a request is refused. The reason is a string literal that may be shown to the caller.
struct Refusal {
  int status;
  std::string_view reason;
};

struct RequestHead {
  std::string text;  // request and header lines as received, each with its CRLF, without the blank line
  std::size_t body_length = 0;
  bool chunked = false;
  bool head_method = false;  // HEAD: the answer has no body
  bool http_1_0 = false;
  bool keep_alive = true;
  bool expects_continue = false;
};

// Reads a head line by line. Pure; one object for each request.
class HeadReader {
 public:
  // Lines are passed without their CRLF. A returned value refuses the request; add nothing more then.
  std::optional<Refusal> add_request_line(std::string_view line, RequestHead& head);
  std::optional<Refusal> add_header_line(std::string_view line, RequestHead& head, const Limits& limits);
  // Call at the blank line: checks the rules that involve several headers.
  std::optional<Refusal> finish(RequestHead& head) const;

 private:
  std::optional<Refusal> add_content_length(std::string_view value, RequestHead& head, const Limits& limits);
  std::optional<Refusal> add_transfer_encoding(std::string_view value, RequestHead& head);
  void add_connection(std::string_view value, RequestHead& head);

  int lines_ = 0;
  bool has_length_ = false;
  bool has_coding_ = false;
  bool has_host_ = false;
  bool has_authorization_ = false;
  bool says_close_ = false;
};

}  // namespace baton::server::http
