#include "http/reply_writer.h"

#include <array>
#include <charconv>
#include <ctime>

#include "http/http_text.h"

namespace baton::http {
namespace {

constexpr char kEventStream[] = "text/event-stream";
// Intermediaries must not cache, transform or buffer the stream.
constexpr std::array<std::pair<const char*, const char*>, 2> kStreamHeaders{
    {{"Cache-Control", "no-cache, no-transform"}, {"X-Accel-Buffering", "no"}}};

constexpr std::array<std::pair<int, std::string_view>, 36> kReasons{{
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {402, "Payment Required"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {505, "HTTP Version Not Supported"},
}};

std::string_view reason_of(int status) {
  for (const auto& [number, reason] : kReasons) {
    if (number == status) return reason;
  }
  return "Status";
}

void append_number(std::size_t number, int base, std::string& out) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, base).ptr;
  out.append(digits.data(), end);
}

void append_header(std::string_view name, std::string_view value, std::string& out) {
  out.append(name).append(": ").append(value).append("\r\n");
}

// Returns the current date, formatted once per second and thread.
std::string_view date_now() {
  thread_local std::time_t shown = 0;
  thread_local std::array<char, 40> text{};
  thread_local std::size_t length = 0;
  const std::time_t now = std::time(nullptr);
  if (now != shown) {
    std::tm parts{};
    gmtime_r(&now, &parts);
    length = std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
    shown = now;
  }
  return {text.data(), length};
}

void append_start(int status, std::string& out) {
  out.append("HTTP/1.1 ");
  append_number(static_cast<std::size_t>(status), 10, out);
  out.append(" ").append(reason_of(status)).append("\r\n");
  append_header("Date", date_now(), out);
  append_header("X-Content-Type-Options", "nosniff", out);
}

bool is_ours(std::string_view name) {
  return same_word(name, "Content-Length") || same_word(name, "Transfer-Encoding") ||
         same_word(name, "Connection") || same_word(name, "Date");
}

void append_all(const HeaderList& headers, std::string& out) {
  for (const auto& [name, value] : headers) {
    const bool breaks_framing = value.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos;
    if (is_token(name) && !breaks_framing && !is_ours(name)) append_header(name, value, out);
  }
}

void append_end(const AnswerShape& shape, std::string& out) {
  if (!shape.keep_alive) {
    append_header("Connection", "close", out);
  } else if (shape.http_1_0) {
    append_header("Connection", "keep-alive", out);
  }
  out.append("\r\n");
}

}  // namespace

namespace {

// Replaces a status that is not valid for an answer: 1xx is interim, and a status has three digits.
int status_of(const Reply& reply) {
  return reply.status >= 200 && reply.status <= 999 ? reply.status : 500;
}

bool is_bodiless(int status) {
  return status == 204 || status == 304;
}

std::string write_start(const Reply& reply, const AnswerShape& shape, std::size_t room) {
  const int status = status_of(reply);
  const bool bodiless = is_bodiless(status);
  std::string out;
  out.reserve(256 + reply.headers.size() * 64 + room);
  append_start(status, out);
  if (!bodiless) {
    if (reply.content_type.find_first_of("\r\n") == std::string::npos && !reply.content_type.empty()) {
      append_header("Content-Type", reply.content_type, out);
    }
    out.append("Content-Length: ");
    append_number(reply.body.size(), 10, out);
    out.append("\r\n");
  }
  append_all(reply.headers, out);
  append_end(shape, out);
  return out;
}

}  // namespace

bool has_body(const Reply& reply, const AnswerShape& shape) {
  return !is_bodiless(status_of(reply)) && !shape.head_method;
}

std::string write_head(const Reply& reply, const AnswerShape& shape) {
  return write_start(reply, shape, 0);
}

std::string write_reply(const Reply& reply, const AnswerShape& shape) {
  std::string out = write_start(reply, shape, reply.body.size());
  if (has_body(reply, shape)) out.append(reply.body);
  return out;
}

std::string write_stream_head(const HeaderList& headers, const AnswerShape& shape) {
  std::string out;
  append_start(200, out);
  append_header("Content-Type", kEventStream, out);
  for (const auto& [name, value] : kStreamHeaders) append_header(name, value, out);
  if (!shape.http_1_0) append_header("Transfer-Encoding", "chunked", out);
  append_all(headers, out);
  append_end(shape, out);
  return out;
}

Reply whole_stream(HeaderList headers, std::string events) {
  Reply reply;
  reply.content_type = kEventStream;
  reply.headers = std::move(headers);
  for (const auto& [name, value] : kStreamHeaders) reply.headers.emplace_back(name, value);
  reply.body = std::move(events);
  return reply;
}

void write_events(std::string_view events, bool chunked, std::string& out) {
  if (!chunked) {
    out.append(events);
    return;
  }
  append_number(events.size(), 16, out);
  out.append("\r\n").append(events).append("\r\n");
}

}  // namespace baton::http
