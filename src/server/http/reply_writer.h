// The one place where answers become bytes: status line, headers, framing. Pure functions.
//
// Framing headers a handler sets (Content-Length, Transfer-Encoding, Connection) are dropped: they are
// decided here. A header that would break the framing (CR, LF, NUL; a name that is no token) is dropped as
// well.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/http/http_server.h"

namespace baton::server::http {

// What of the request and the connection decides the shape of its answer.
struct AnswerShape {
  bool head_method = false;  // no body, whatever the length says
  bool http_1_0 = false;
  bool keep_alive = true;
};

using HeaderList = std::vector<std::pair<std::string, std::string>>;

// Whether the answer has its body on the wire.
bool has_body(const Reply& reply, const AnswerShape& shape);
// The head alone.
std::string write_head(const Reply& reply, const AnswerShape& shape);
// Head and body in one piece.
std::string write_reply(const Reply& reply, const AnswerShape& shape);

// The head of an event stream: chunked, or for HTTP/1.0 ended by the end of the connection.
std::string write_stream_head(const HeaderList& headers, const AnswerShape& shape);

// The answer that is a whole event stream.
Reply whole_stream(HeaderList headers, std::string events);

// Puts `events` (not empty) into `out` as they go over the wire.
void write_events(std::string_view events, bool chunked, std::string& out);

inline constexpr std::string_view kLastChunk = "0\r\n\r\n";
inline constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
// What keeps a silent stream awake: a comment without a blank line once the stream has had ids
// (StreamSource::has_ids), and before with one, since the first client of A2A 0.1 drops a block that begins
// with a comment.
inline constexpr std::string_view kKeepAwake = ": keep-awake\n";
inline constexpr std::string_view kKeepAwakeBlock = ": keep-awake\n\n";

}  // namespace baton::server::http
