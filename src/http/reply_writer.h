// Serialises all answers: status line, headers, framing. Pure functions.
//
// Drops the framing headers of handlers (Content-Length, Transfer-Encoding, Connection) and writes its own.
// Also drops headers that would break the framing (CR, LF, NUL; a name that is not a token).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/http_server.h"

namespace baton::http {

// The properties of the request and connection that determine the answer's framing.
struct AnswerShape {
  bool head_method = false;  // no body, whatever Content-Length says
  bool http_1_0 = false;
  bool keep_alive = true;
};

using HeaderList = std::vector<std::pair<std::string, std::string>>;

// Returns true if the answer's body is sent.
bool has_body(const Reply& reply, const AnswerShape& shape);
// Returns the head without the body.
std::string write_head(const Reply& reply, const AnswerShape& shape);
// Returns head and body in one piece.
std::string write_reply(const Reply& reply, const AnswerShape& shape);

// Returns the head of an event stream: chunked, or for HTTP/1.0 ended by closing the connection.
std::string write_stream_head(const HeaderList& headers, const AnswerShape& shape);

// Returns a reply with a complete event stream.
Reply whole_stream(HeaderList headers, std::string events);

// Appends `events` (not empty) to `out` in wire format.
void write_events(std::string_view events, bool chunked, std::string& out);

inline constexpr std::string_view kLastChunk = "0\r\n\r\n";
inline constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
// Keep-alive comments for silent streams. The one without a blank line is for streams that have sent ids
// (StreamSource::has_ids). Before that, the comment needs a blank line, because the first client of A2A 0.1
// drops a block that begins with a comment.
inline constexpr std::string_view kKeepAwake = ": keep-awake\n";
inline constexpr std::string_view kKeepAwakeBlock = ": keep-awake\n\n";

}  // namespace baton::http
