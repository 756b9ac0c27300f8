// RequestHead: what the connection layer itself must know of a request's head: where the request ends and
// whether the connection lives on. Everything else is left to the library (library_request.h).
//
// The rules are stricter than the library's wherever two readers of the same bytes could disagree about the
// end of a request (RFC 9112, sections 2.2, 5 and 6).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "server/http/http_server.h"

namespace baton::server::http {

// Why a request is not taken. The reason is a literal that may be shown to the caller.
struct Refusal {
  int status;
  std::string_view reason;
};

struct RequestHead {
  std::string text;  // request line and header lines as they came, each with its CRLF, without the blank line
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
  // A line comes without its CRLF. An answer means the request is refused and nothing more may be added.
  std::optional<Refusal> add_request_line(std::string_view line, RequestHead& head);
  std::optional<Refusal> add_header_line(std::string_view line, RequestHead& head, const Limits& limits);
  // At the blank line: the rules that concern several headers.
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
