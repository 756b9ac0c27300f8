#include "http/reply_writer.h"

#include <doctest/doctest.h>

#include <string>

namespace reply_writer_test {

using namespace baton::http;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Reply reply_of(int status, std::string body) {
  Reply reply;
  reply.status = status;
  reply.body = std::move(body);
  return reply;
}

}  // namespace

TEST_CASE("write_reply: status line, type, length, own headers and body") {
  Reply reply = reply_of(404, "{}");
  reply.headers.emplace_back("X-A", "b");
  const std::string bytes = write_reply(reply, {});
  CHECK(bytes.starts_with("HTTP/1.1 404 Not Found\r\nDate: "));
  CHECK(has(bytes, " GMT\r\n"));
  CHECK(has(bytes, "\r\nContent-Type: application/json\r\n"));
  CHECK(has(bytes, "\r\nContent-Length: 2\r\n"));
  CHECK(has(bytes, "\r\nX-A: b\r\n"));
  CHECK(bytes.ends_with("\r\n\r\n{}"));
  CHECK_FALSE(has(bytes, "Connection:"));
}

TEST_CASE("write_reply: HEAD has the length but no body; 204 and 304 have neither") {
  const std::string head = write_reply(reply_of(200, "abc"), {.head_method = true});
  CHECK(has(head, "Content-Length: 3\r\n"));
  CHECK(head.ends_with("\r\n\r\n"));
  for (const int status : {204, 304}) {
    const std::string bytes = write_reply(reply_of(status, "abc"), {});
    CHECK_FALSE(has(bytes, "Content-Length"));
    CHECK(bytes.ends_with("\r\n\r\n"));
  }
}

TEST_CASE("write_reply: Connection says close, or keep-alive for HTTP/1.0") {
  CHECK(has(write_reply({}, {.keep_alive = false}), "Connection: close\r\n"));
  CHECK(has(write_reply({}, {.http_1_0 = true}), "Connection: keep-alive\r\n"));
}

TEST_CASE("write_reply: headers that would break the framing are dropped") {
  Reply reply;
  reply.headers = {{"Content-Length", "99"},  {"transfer-encoding", "chunked"},
                   {"connection", "upgrade"}, {"X-Split", "a\r\nEvil: 1"},
                   {"Bad Name", "x"},         {"", "x"}};
  reply.content_type = "text/plain\r\nEvil: 2";
  const std::string bytes = write_reply(reply, {});
  CHECK(has(bytes, "Content-Length: 0\r\n"));
  for (const char* word : {"99", "chunked", "upgrade", "Evil", "Bad Name"}) CHECK_FALSE(has(bytes, word));
}

TEST_CASE("write_reply: a status that is not final becomes 500") {
  for (const int status : {0, -1, 100, 1000}) {
    CHECK(write_reply(reply_of(status, ""), {}).starts_with("HTTP/1.1 500 "));
  }
}

TEST_CASE("write_stream_head: an event stream that must not be buffered or transformed") {
  const std::string bytes = write_stream_head({{"X-A", "b"}}, {});
  CHECK(bytes.starts_with("HTTP/1.1 200 OK\r\n"));
  for (const char* line : {"Content-Type: text/event-stream\r\n", "Cache-Control: no-cache, no-transform\r\n",
                           "X-Accel-Buffering: no\r\n", "Transfer-Encoding: chunked\r\n", "X-A: b\r\n"}) {
    CHECK(has(bytes, line));
  }
  const std::string old = write_stream_head({}, {.http_1_0 = true, .keep_alive = false});
  CHECK_FALSE(has(old, "chunked"));
  CHECK(has(old, "Connection: close\r\n"));
}

TEST_CASE("write_events: a chunk has its size in hexadecimal") {
  std::string out;
  write_events(std::string(26, 'x'), true, out);
  CHECK(out == "1a\r\n" + std::string(26, 'x') + "\r\n");
  out.clear();
  write_events("data", false, out);
  CHECK(out == "data");
}

}  // namespace reply_writer_test
