#include "http/request_parser.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace request_parser_test {

using baton::http::LargeBody;
using baton::http::Limits;
using baton::http::ParsedRequest;
using baton::http::Request;
using baton::http::RequestParser;
using State = RequestParser::State;

namespace {

const Limits kLimits;

// Feeds the text at once or byte by byte, up to the end of the request.
RequestParser fed(std::string_view bytes, bool by_byte, const Limits& limits = kLimits) {
  RequestParser parser(limits);
  if (!by_byte) {
    parser.feed(bytes);
    return parser;
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (parser.feed(bytes.substr(i, 1)) == 0) break;
  }
  return parser;
}

std::string request(std::string_view headers, std::string_view body = {}) {
  return "POST /a HTTP/1.1\r\nHost: h\r\n" + std::string(headers) + "\r\n" + std::string(body);
}

// Checks that the text is refused for the same reason in whatever pieces it arrives.
void check_refused(const std::string& bytes, int status, const Limits& limits = kLimits) {
  const RequestParser at_once = fed(bytes, false, limits), by_byte = fed(bytes, true, limits);
  CAPTURE(bytes);
  REQUIRE(at_once.state() == State::refused);
  REQUIRE(by_byte.state() == State::refused);
  CHECK(at_once.refusal().status == status);
  CHECK(by_byte.refusal().status == status);
  CHECK_FALSE(at_once.refusal().reason.empty());
  CHECK(at_once.refusal().reason == by_byte.refusal().reason);
}

ParsedRequest check_complete(const std::string& bytes, const Limits& limits = kLimits) {
  RequestParser by_byte = fed(bytes, true, limits);
  RequestParser at_once = fed(bytes, false, limits);
  CAPTURE(bytes);
  REQUIRE(by_byte.state() == State::complete);
  REQUIRE(at_once.state() == State::complete);
  ParsedRequest parsed = at_once.take();
  const ParsedRequest other = by_byte.take();
  CHECK(parsed.request.method == other.request.method);
  CHECK(parsed.request.raw_path == other.request.raw_path);
  CHECK(parsed.request.query == other.request.query);
  CHECK(parsed.request.headers == other.request.headers);
  CHECK(parsed.request.body == other.request.body);
  CHECK(parsed.keep_alive == other.keep_alive);
  return parsed;
}

}  // namespace

TEST_CASE("RequestParser: every request of a connection has its address and certificate, also while asking") {
  const auto names = std::make_shared<const baton::http::tls::Peer>(baton::http::tls::Peer{{"DNS:a.test"}});
  const std::string bytes = request("Content-Length: 100000\r\n", std::string(100'000, 'x'));
  RequestParser parser(kLimits, true);
  parser.set_sender("192.0.2.1", names);
  for (int i = 0; i < 3; ++i) {
    const std::size_t used = parser.feed(bytes);
    REQUIRE(parser.state() == State::asking);
    CHECK(parser.parsed()->request.certificate == names);
    CHECK(parser.parsed()->request.remote_address == "192.0.2.1");
    parser.decide(LargeBody::allowed);
    parser.feed(std::string_view(bytes).substr(used));
    REQUIRE(parser.state() == State::complete);
    const Request taken = parser.take().request;
    CHECK(taken.certificate == names);
    CHECK(taken.remote_address == "192.0.2.1");
  }
}

TEST_CASE("RequestParser: while it asks about a body it reads none of it, and 100 Continue is not due") {
  const std::string head = request("Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n");
  for (const bool sends_at_once : {false, true}) {
    RequestParser parser(kLimits, true);
    CHECK(parser.feed(head + "1\r\nx\r\n") == head.size());
    REQUIRE(parser.state() == State::asking);
    CHECK(parser.feed("1\r\nx\r\n") == 0);
    CHECK_FALSE(parser.take_continue());
    parser.decide(LargeBody::allowed);
    CHECK(parser.state() == State::body);
    if (sends_at_once) parser.feed("1\r\nx\r\n");
    CHECK(parser.take_continue() == !sends_at_once);
  }
}

TEST_CASE("RequestParser: a request without a body is complete at the blank line") {
  const ParsedRequest parsed = check_complete("GET /x?y=1 HTTP/1.1\r\nHost: h\r\nA: b\r\n\r\n");
  CHECK(parsed.request.path == "/x");
  CHECK(parsed.request.header("A") == "b");
  CHECK(parsed.request.body.empty());
  CHECK(parsed.keep_alive);
  CHECK_FALSE(parsed.head_method());
}

TEST_CASE("RequestParser: a POST without any length has an empty body") {
  CHECK(check_complete(request("")).request.body.empty());
}

TEST_CASE("RequestParser: a body of a known length is read to its last byte and no further") {
  CHECK(check_complete(request("Content-Length: 5\r\n", "hello")).request.body == "hello");
  RequestParser parser(kLimits);
  const std::string bytes = request("Content-Length: 5\r\n", "helloGET /");
  CHECK(parser.feed(bytes) == bytes.size() - 5);
  REQUIRE(parser.state() == State::complete);
  CHECK(parser.feed("GET /") == 0);
  CHECK(parser.take().request.body == "hello");
  CHECK(parser.state() == State::idle);
  CHECK(parser.feed("GET /") == 5);
  CHECK(parser.state() == State::head);
}

TEST_CASE("RequestParser: a chunked body is decoded, and extensions and trailers are dropped") {
  const ParsedRequest parsed = check_complete(
      request("Transfer-Encoding: Chunked\r\n", "5;a=b\r\nhello\r\n00A \r\n, 10 bytes\r\n0\r\nT: x\r\n\r\n"));
  CHECK(parsed.request.body == "hello, 10 bytes");
  CHECK(parsed.chunked);
}

TEST_CASE("RequestParser: pipelined requests are parsed one after the other") {
  const std::string bytes =
      "\r\nGET /1 HTTP/1.1\r\nHost: h\r\n\r\n" + request("Content-Length: 2\r\n", "ab") +
      request("Transfer-Encoding: chunked\r\n", "1\r\nc\r\n0\r\n\r\n") + "GET /4 HTTP/1.1\r\nHost: h\r\n\r\n";
  std::string_view left = bytes;
  RequestParser parser(kLimits);
  std::vector<std::string> bodies;
  while (!left.empty()) {
    left.remove_prefix(parser.feed(left));
    REQUIRE(parser.state() == State::complete);
    bodies.push_back(parser.take().request.body);
  }
  CHECK(bodies == std::vector<std::string>{"", "ab", "c", ""});
}

TEST_CASE("RequestParser: blank lines alone leave it idle") {
  RequestParser parser(kLimits);
  parser.feed("\r\n");
  CHECK(parser.state() == State::idle);
  check_refused("\r\n\r\n\r\n\r\n\r\n", 400);
}

TEST_CASE("RequestParser: keep-alive depends on version and Connection, in any case and in lists") {
  const auto keeps = [](const std::string& version, const std::string& headers) {
    return check_complete("GET / " + version + "\r\nHost: h\r\n" + headers + "\r\n").keep_alive;
  };
  CHECK(keeps("HTTP/1.1", ""));
  CHECK_FALSE(keeps("HTTP/1.1", "Connection: close\r\n"));
  CHECK_FALSE(keeps("HTTP/1.1", "connection: Keep-Alive, CLOSE\r\n"));
  CHECK(keeps("HTTP/1.1", "Connection: closed\r\n"));
  CHECK_FALSE(keeps("HTTP/1.0", ""));
  CHECK(keeps("HTTP/1.0", "Connection: x, keep-alive\r\n"));
  CHECK_FALSE(keeps("HTTP/1.0", "Connection: close\r\nConnection: keep-alive\r\n"));
}

TEST_CASE("RequestParser: HTTP/1.0 needs no Host, HTTP/1.1 needs exactly one") {
  check_complete("GET / HTTP/1.0\r\n\r\n");
  check_refused("GET / HTTP/1.1\r\n\r\n", 400);
  check_refused("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400);
}

TEST_CASE("RequestParser: 100 Continue is due once, and not if the body arrives without it") {
  RequestParser parser(kLimits);
  parser.feed(request("Content-Length: 2\r\nExpect: 100-Continue\r\n"));
  CHECK(parser.state() == State::body);
  CHECK(parser.take_continue());
  CHECK_FALSE(parser.take_continue());
  parser.feed("ab");
  CHECK(parser.state() == State::complete);

  RequestParser eager(kLimits);
  eager.feed(request("Content-Length: 2\r\nExpect: 100-continue\r\n", "a"));
  CHECK_FALSE(eager.take_continue());

  RequestParser bodiless(kLimits);
  bodiless.feed(request("Expect: 100-continue\r\n"));
  CHECK(bodiless.state() == State::complete);
  CHECK_FALSE(bodiless.take_continue());

  RequestParser old(kLimits);
  old.feed("POST / HTTP/1.0\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  CHECK(old.state() == State::body);
  CHECK_FALSE(old.take_continue());
}

TEST_CASE("RequestParser: malformed requests are refused with the right status") {
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
      {request("Content-Length: 1\r\ncontent-length: 1\r\n"), 400},
      {request("Content-Length: 1, 1\r\n"), 400},
      {request("Content-Length: 1 1\r\n"), 400},
      {request("Content-Length: 1;\r\n"), 400},
      {request("Content-Length: 1.0\r\n"), 400},
      {request("Content-Length: -0\r\n"), 400},
      {request("Content-Length: \xd9\xa1\r\n"), 400},
      {request("Content-Length : 1\r\n"), 400},
      {request("Content-Length\t: 1\r\n"), 400},
      {request("Content-Length: \r\n 1\r\n"), 400},
      {request("\x0b"
               "Content-Length: 1\r\n"),
       400},
      {request("A: b\r\r\nContent-Length: 1\r\n"), 400},
      {request("A: b\nContent-Length: 1\r\n"), 400},
      {request("Content-Length: -1\r\n"), 400},
      {request("Content-Length: +1\r\n"), 400},
      {request("Content-Length: 0x1\r\n"), 400},
      {request("Content-Length:\r\n"), 400},
      {request("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"), 400},
      {request("Transfer-Encoding: chunked\r\nContent-Length: 1\r\n"), 400},
      {request("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400},
      {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {request("Transfer-Encoding : chunked\r\n"), 400},
      {request("Transfer-Encoding:\r\n chunked\r\n"), 501},
      {request("Content-Length: 1\r\n Transfer-Encoding: chunked\r\n"), 400},
      {request("Content-Length: 1\r\nTransfer-Encoding: identity\r\n"), 501},
      {request("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n"), 501},
      {request("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"), 400},
      {request("Transfer-Encoding: chunked, identity\r\n"), 501},
      {request("Transfer-Encoding: chunked, chunked\r\n"), 501},
      {request("Transfer-Encoding: chunked,\r\n"), 501},
      {request("Transfer-Encoding: ,chunked\r\n"), 501},
      {request("Transfer-Encoding: chunked;q=1\r\n"), 501},
      {request("Transfer-Encoding: \"chunked\"\r\n"), 501},
      {request("Transfer-Encoding: \x0b"
               "chunked\r\n"),
       400},
      {request("Transfer-Encoding:\r\n"), 501},
      {request("Transfer-Encoding: gzip, chunked\r\n"), 501},
      {request("Transfer-Encoding: identity\r\n"), 501},
      {request("Transfer-Encoding: xchunked\r\n"), 501},
      {request("Expect: 200-ok\r\n"), 417},
      {request("Content-Length: 8388609\r\n"), 413},
      {request("Content-Length: 99999999999999999999999\r\n"), 413},
  };
  for (const auto& [bytes, status] : table) check_refused(bytes, status);
}

TEST_CASE("RequestParser: a malformed chunked body is refused") {
  for (const char* body : {"x\r\n", "\r\n", "-1\r\n", "1\nx\r\n", "1\r\nxy", "+1\r\n", "0x1\r\n", " 1\r\n",
                           "1_0\r\n", "1;a\nb\r\n", "1;a\rb\r\n", "0\n\r\n", "1\r\nx\n", "0\r\n\rx",
                           "0\r\nA\x01", "1;\x01\r\n", "1\r\r\n"}) {
    check_refused(request("Transfer-Encoding: chunked\r\n", body), 400);
  }
  check_refused(request("Transfer-Encoding: chunked\r\n", "1;" + std::string(300, 'x')), 400);
  check_refused(request("Transfer-Encoding: chunked\r\n", std::string(300, '0')), 400);
  check_refused(request("Transfer-Encoding: chunked\r\n", "0\r\nA: " + std::string(9000, 'x')), 400);
}

TEST_CASE("RequestParser: a chunked body is bounded, also when the sizes would overflow") {
  Limits limits;
  limits.body_max = 8;
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  CHECK(check_complete(request(chunked, "5\r\nabcde\r\n3\r\nfgh\r\n0\r\n\r\n"), limits).request.body ==
        "abcdefgh");
  check_refused(request(chunked, "5\r\nabcde\r\n4\r\n"), 413, limits);
  check_refused(request(chunked, "ffffffffffffffffffff\r\n"), 413, limits);
}

TEST_CASE("RequestParser: the head is bounded in bytes, lines and length of a line") {
  Limits limits;
  limits.header_bytes_max = 200;
  limits.header_lines_max = 3;
  check_complete(request("A: 1\r\nB: 2\r\n"), limits);
  check_refused(request("A: 1\r\nB: 2\r\nC: 3\r\n"), 431, limits);
  check_refused(request("A: " + std::string(200, 'x')), 431, limits);
  check_refused("GET /" + std::string(300, 'x') + " HTTP/1.1\r\n\r\n", 414, limits);
  check_refused("GET /" + std::string(9000, 'x'), 414);
  check_refused("GET /" + std::string(70'000, 'x') + " HTTP/1.1\r\n\r\n", 414);
  check_refused("GET /" + std::string(9000, 'x') + "\x01", 414);
  check_refused("GET /" + std::string(7000, 'x') + "\x01" + std::string(70'000, 'x'), 400);
  check_refused(request("A: " + std::string(70'000, 'x')), 431);
  check_refused(request("A: " + std::string(20'001, 'x')), 431);
  check_complete(request("Authorization: Bearer " + std::string(16'384, 'x') + "\r\n"));
}

TEST_CASE("RequestParser: an unauthenticated body has its own limit, checked before it is buffered") {
  Limits limits;
  limits.stranger_body_max = 8;
  std::string asked;
  const auto feed = [&](RequestParser& parser, const std::string& bytes) {
    const std::size_t used = parser.feed(bytes);
    if (parser.state() != State::asking) return;
    const Request& head = parser.parsed()->request;
    asked = head.raw_path;
    parser.decide(!head.header("X-Known").empty()     ? LargeBody::allowed
                  : !head.header("X-Unclear").empty() ? LargeBody::unclear
                                                      : LargeBody::refused);
    parser.feed(std::string_view(bytes).substr(used));
  };
  const auto state_after = [&](const std::string& bytes) {
    RequestParser parser(limits, true);
    feed(parser, bytes);
    return std::pair(parser.state(), parser.refusal().status);
  };
  CHECK(state_after(request("Content-Length: 8\r\n", "12345678")).first == State::complete);
  CHECK(asked.empty());
  CHECK(state_after(request("Content-Length: 9\r\n")) == std::pair(State::refused, 401));
  CHECK(asked == "/a");
  CHECK(state_after(request("X-Known: y\r\nContent-Length: 9\r\n", "123456789")).first == State::complete);
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  CHECK(state_after(request(chunked, "8\r\n12345678\r\n0\r\n\r\n")).first == State::complete);
  CHECK(state_after(request(chunked, "8\r\n12345678\r\n1\r\n9\r\n0\r\n\r\n")) ==
        std::pair(State::refused, 401));
  CHECK(state_after(request("X-Unclear: y\r\nContent-Length: 9\r\n")) == std::pair(State::refused, 503));
  CHECK(state_after(request("X-Unclear: y\r\n" + chunked, "8\r\n12345678\r\n0\r\n\r\n")).first ==
        State::complete);
  CHECK(state_after(request("X-Unclear: y\r\n" + chunked, "9\r\n123456789\r\n0\r\n\r\n")) ==
        std::pair(State::refused, 503));
  CHECK(state_after(request("X-Known: y\r\n" + chunked, "9\r\n123456789\r\n0\r\n\r\n")).first ==
        State::complete);

  // The limit applies to every request of a connection.
  RequestParser parser(limits, true);
  feed(parser, request("X-Known: y\r\nContent-Length: 9\r\n", "123456789"));
  parser.take();
  feed(parser, request("Content-Length: 9\r\n"));
  CHECK(parser.state() == State::refused);
}

TEST_CASE("RequestParser: requests that intermediaries may read differently are refused") {
  check_refused(request("Authorization: Bearer a\r\nauthorization: Bearer a\r\n"), 400);
  for (const char* coding : {"gzip", "br", "identity, gzip"}) {
    check_refused(request("Content-Encoding: " + std::string(coding) + "\r\n"), 415);
  }
  check_complete(request("Content-Encoding: Identity\r\n"));
}

}  // namespace request_parser_test
