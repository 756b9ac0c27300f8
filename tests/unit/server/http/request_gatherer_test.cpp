#include "server/http/request_gatherer.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace request_gatherer_test {

using baton::server::http::Gathered;
using baton::server::http::Limits;
using baton::server::http::RequestGatherer;
using State = RequestGatherer::State;

namespace {

const Limits kLimits;

// Feeds all at once or byte by byte, and stops at the end of the request.
RequestGatherer fed(std::string_view bytes, bool by_byte, const Limits& limits = kLimits) {
  RequestGatherer gatherer(limits);
  if (!by_byte) {
    gatherer.feed(bytes);
    return gatherer;
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (gatherer.feed(bytes.substr(i, 1)) == 0) break;
  }
  return gatherer;
}

std::string request(std::string_view headers, std::string_view body = {}) {
  return "POST /a HTTP/1.1\r\nHost: h\r\n" + std::string(headers) + "\r\n" + std::string(body);
}

void check_refused(const std::string& bytes, int status, const Limits& limits = kLimits) {
  for (const bool by_byte : {false, true}) {
    const RequestGatherer gatherer = fed(bytes, by_byte, limits);
    CAPTURE(bytes);
    CAPTURE(by_byte);
    REQUIRE(gatherer.state() == State::refused);
    CHECK(gatherer.refusal().status == status);
    CHECK_FALSE(gatherer.refusal().reason.empty());
  }
}

Gathered check_complete(const std::string& bytes, const Limits& limits = kLimits) {
  RequestGatherer by_byte = fed(bytes, true, limits);
  RequestGatherer at_once = fed(bytes, false, limits);
  CAPTURE(bytes);
  REQUIRE(by_byte.state() == State::complete);
  REQUIRE(at_once.state() == State::complete);
  Gathered gathered = at_once.take();
  const Gathered other = by_byte.take();
  CHECK(gathered.body == other.body);
  CHECK(gathered.head.text == other.head.text);
  CHECK(gathered.head.keep_alive == other.head.keep_alive);
  return gathered;
}

}  // namespace

TEST_CASE("RequestGatherer: a request without a body is complete at the blank line") {
  const Gathered gathered = check_complete("GET /x?y=1 HTTP/1.1\r\nHost: h\r\nA: b\r\n\r\n");
  CHECK(gathered.head.text == "GET /x?y=1 HTTP/1.1\r\nHost: h\r\nA: b\r\n");
  CHECK(gathered.body.empty());
  CHECK(gathered.head.keep_alive);
  CHECK_FALSE(gathered.head.head_method);
}

TEST_CASE("RequestGatherer: a POST without any length has an empty body") {
  CHECK(check_complete(request("")).body.empty());
}

TEST_CASE("RequestGatherer: a body of a known length is taken to its last byte and no further") {
  CHECK(check_complete(request("Content-Length: 5\r\n", "hello")).body == "hello");
  RequestGatherer gatherer(kLimits);
  const std::string bytes = request("Content-Length: 5\r\n", "helloGET /");
  CHECK(gatherer.feed(bytes) == bytes.size() - 5);
  REQUIRE(gatherer.state() == State::complete);
  CHECK(gatherer.feed("GET /") == 0);
  CHECK(gatherer.take().body == "hello");
  CHECK(gatherer.state() == State::idle);
  CHECK(gatherer.feed("GET /") == 5);
  CHECK(gatherer.state() == State::head);
}

TEST_CASE("RequestGatherer: a chunked body is decoded, extensions and trailers dropped") {
  const Gathered gathered = check_complete(
      request("Transfer-Encoding: Chunked\r\n", "5;a=b\r\nhello\r\n00A \r\n, 10 bytes\r\n0\r\nT: x\r\n\r\n"));
  CHECK(gathered.body == "hello, 10 bytes");
  CHECK(gathered.head.chunked);
}

TEST_CASE("RequestGatherer: pipelined requests come out one after the other") {
  const std::string bytes =
      "\r\nGET /1 HTTP/1.1\r\nHost: h\r\n\r\n" + request("Content-Length: 2\r\n", "ab") +
      request("Transfer-Encoding: chunked\r\n", "1\r\nc\r\n0\r\n\r\n") + "GET /4 HTTP/1.1\r\nHost: h\r\n\r\n";
  std::string_view left = bytes;
  RequestGatherer gatherer(kLimits);
  std::vector<std::string> bodies;
  while (!left.empty()) {
    left.remove_prefix(gatherer.feed(left));
    REQUIRE(gatherer.state() == State::complete);
    bodies.push_back(gatherer.take().body);
  }
  CHECK(bodies == std::vector<std::string>{"", "ab", "c", ""});
}

TEST_CASE("RequestGatherer: blank lines alone leave it idle") {
  RequestGatherer gatherer(kLimits);
  gatherer.feed("\r\n");
  CHECK(gatherer.state() == State::idle);
  check_refused("\r\n\r\n\r\n\r\n\r\n", 400);
}

TEST_CASE("RequestGatherer: keep-alive follows version and Connection, in any case and in lists") {
  const auto keeps = [](const std::string& version, const std::string& headers) {
    return check_complete("GET / " + version + "\r\nHost: h\r\n" + headers + "\r\n").head.keep_alive;
  };
  CHECK(keeps("HTTP/1.1", ""));
  CHECK_FALSE(keeps("HTTP/1.1", "Connection: close\r\n"));
  CHECK_FALSE(keeps("HTTP/1.1", "connection: Keep-Alive, CLOSE\r\n"));
  CHECK(keeps("HTTP/1.1", "Connection: closed\r\n"));
  CHECK_FALSE(keeps("HTTP/1.0", ""));
  CHECK(keeps("HTTP/1.0", "Connection: x, keep-alive\r\n"));
  CHECK_FALSE(keeps("HTTP/1.0", "Connection: close\r\nConnection: keep-alive\r\n"));
}

TEST_CASE("RequestGatherer: HTTP/1.0 needs no Host, HTTP/1.1 needs exactly one") {
  check_complete("GET / HTTP/1.0\r\n\r\n");
  check_refused("GET / HTTP/1.1\r\n\r\n", 400);
  check_refused("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400);
}

TEST_CASE("RequestGatherer: 100-continue is owed once, and not when the body comes by itself") {
  RequestGatherer gatherer(kLimits);
  gatherer.feed(request("Content-Length: 2\r\nExpect: 100-Continue\r\n"));
  CHECK(gatherer.state() == State::body);
  CHECK(gatherer.take_continue());
  CHECK_FALSE(gatherer.take_continue());
  gatherer.feed("ab");
  CHECK(gatherer.state() == State::complete);

  RequestGatherer eager(kLimits);
  eager.feed(request("Content-Length: 2\r\nExpect: 100-continue\r\n", "a"));
  CHECK_FALSE(eager.take_continue());

  RequestGatherer bodiless(kLimits);
  bodiless.feed(request("Expect: 100-continue\r\n"));
  CHECK(bodiless.state() == State::complete);
  CHECK_FALSE(bodiless.take_continue());

  RequestGatherer old(kLimits);
  old.feed("POST / HTTP/1.0\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  CHECK(old.state() == State::body);
  CHECK_FALSE(old.take_continue());
}

TEST_CASE("RequestGatherer: what is malformed is refused with its status") {
  const std::string nul("GET /\0 HTTP/1.1\r\n", 17);
  const std::string nul_header = "GET / HTTP/1.1\r\nHost: h\r\nA: x" + std::string(1, '\0') + "y\r\n\r\n";
  const std::vector<std::pair<std::string, int>> table{
      {"GET / HTTP/2.0\r\n", 505},
      {"GET / HTTP/1.2\r\n", 505},
      {"GET / HTTP/0.9\r\n", 505},
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"GET / http/1.1\r\n", 400},
      {"GET / HTTP/1.1x\r\n", 400},
      {"GET / HTTP/11\r\n", 400},
      {"GET / FTP/1.1\r\n", 400},
      {"GET /\r\n", 400},
      {"GET\r\n", 400},
      {"GET  / HTTP/1.1\r\n", 400},
      {"GET /  HTTP/1.1\r\n", 400},
      {"GET /a b HTTP/1.1\r\n", 400},
      {" GET / HTTP/1.1\r\n", 400},
      {"G(T / HTTP/1.1\r\n", 400},
      {"G\xc3\x84T / HTTP/1.1\r\n", 400},
      {"GET / HTTP/1.1\n", 400},
      {"GET / HTTP/1.1\r\r\n", 400},
      {"GET /\rx HTTP/1.1\r\n", 400},
      {"\x16\x03\x01\x02", 400},
      {nul, 400},
      {nul_header, 400},
      {request("A : b\r\n"), 400},
      {request(": b\r\n"), 400},
      {request("A\r\n"), 400},
      {request("A b: c\r\n"), 400},
      {request("A: b\r\n c\r\n"), 400},
      {request(" A: b\r\n"), 400},
      {request("A: b\n"), 400},
      {request("A: b\rc\r\n"), 400},
      {request("A: b\x01\r\n"), 400},
      {request("Content-Length: 1\r\nContent-Length: 1\r\n"), 400},
      {request("Content-Length: 1\r\nContent-Length: 2\r\n"), 400},
      {request("Content-Length: 1, 1\r\n"), 400},
      {request("Content-Length: -1\r\n"), 400},
      {request("Content-Length: +1\r\n"), 400},
      {request("Content-Length: 0x1\r\n"), 400},
      {request("Content-Length:\r\n"), 400},
      {request("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"), 400},
      {request("Transfer-Encoding: chunked\r\nContent-Length: 1\r\n"), 400},
      {request("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400},
      {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {request("Transfer-Encoding: gzip, chunked\r\n"), 501},
      {request("Transfer-Encoding: identity\r\n"), 501},
      {request("Transfer-Encoding: xchunked\r\n"), 501},
      {request("Expect: 200-ok\r\n"), 417},
      {request("Content-Length: 8388609\r\n"), 413},
      {request("Content-Length: 99999999999999999999999\r\n"), 413},
  };
  for (const auto& [bytes, status] : table) check_refused(bytes, status);
}

TEST_CASE("RequestGatherer: a malformed chunked body is refused") {
  for (const char* body : {"x\r\n", "\r\n", "-1\r\n", "1\nx\r\n", "1\r\nxy", "1\r\nx\n", "0\r\n\rx",
                           "0\r\nA\x01", "1;\x01\r\n", "1\r\r\n"}) {
    check_refused(request("Transfer-Encoding: chunked\r\n", body), 400);
  }
  check_refused(request("Transfer-Encoding: chunked\r\n", "1;" + std::string(300, 'x')), 400);
  check_refused(request("Transfer-Encoding: chunked\r\n", std::string(300, '0')), 400);
  check_refused(request("Transfer-Encoding: chunked\r\n", "0\r\nA: " + std::string(9000, 'x')), 400);
}

TEST_CASE("RequestGatherer: a chunked body is bounded, also when the sizes would overflow") {
  Limits limits;
  limits.body_max = 8;
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  CHECK(check_complete(request(chunked, "5\r\nabcde\r\n3\r\nfgh\r\n0\r\n\r\n"), limits).body == "abcdefgh");
  check_refused(request(chunked, "5\r\nabcde\r\n4\r\n"), 413, limits);
  check_refused(request(chunked, "ffffffffffffffffffff\r\n"), 413, limits);
}

TEST_CASE("RequestGatherer: the head is bounded in bytes, lines and length of a line") {
  Limits limits;
  limits.header_bytes_max = 200;
  limits.header_lines_max = 3;
  check_complete(request("A: 1\r\nB: 2\r\n"), limits);
  check_refused(request("A: 1\r\nB: 2\r\nC: 3\r\n"), 431, limits);
  check_refused(request("A: " + std::string(200, 'x')), 431, limits);
  check_refused("GET /" + std::string(9000, 'x'), 414);
  check_refused(request("A: " + std::string(9000, 'x')), 431);
}

TEST_CASE("RequestGatherer: a stranger's body ends at its own bound, before it is kept") {
  Limits limits;
  limits.stranger_body_max = 8;
  std::string asked;
  const baton::server::http::BodyGate gate = [&](std::string_view head) {
    asked = head;
    return head.find("X-Known") != std::string_view::npos;
  };
  const auto state_after = [&](const std::string& bytes) {
    RequestGatherer gatherer(limits, &gate);
    gatherer.feed(bytes);
    return std::pair(gatherer.state(), gatherer.refusal().status);
  };
  CHECK(state_after(request("Content-Length: 8\r\n", "12345678")).first == State::complete);
  CHECK(asked.empty());
  CHECK(state_after(request("Content-Length: 9\r\n")) == std::pair(State::refused, 401));
  CHECK(asked == "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n");
  CHECK(state_after(request("X-Known: y\r\nContent-Length: 9\r\n", "123456789")).first == State::complete);
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  CHECK(state_after(request(chunked, "8\r\n12345678\r\n0\r\n\r\n")).first == State::complete);
  CHECK(state_after(request(chunked, "8\r\n12345678\r\n1\r\n9\r\n0\r\n\r\n")) ==
        std::pair(State::refused, 401));
  CHECK(state_after(request("X-Known: y\r\n" + chunked, "9\r\n123456789\r\n0\r\n\r\n")).first ==
        State::complete);

  // The bound holds for every request of a connection.
  RequestGatherer gatherer(limits, &gate);
  gatherer.feed(request("X-Known: y\r\nContent-Length: 9\r\n", "123456789"));
  gatherer.take();
  gatherer.feed(request("Content-Length: 9\r\n"));
  CHECK(gatherer.state() == State::refused);
}

TEST_CASE("RequestGatherer: what others on the way may read otherwise is refused") {
  check_refused(request("Authorization: Bearer a\r\nauthorization: Bearer a\r\n"), 400);
  for (const char* coding : {"gzip", "br", "identity, gzip"}) {
    check_refused(request("Content-Encoding: " + std::string(coding) + "\r\n"), 415);
  }
  check_complete(request("Content-Encoding: Identity\r\n"));
}

}  // namespace request_gatherer_test
