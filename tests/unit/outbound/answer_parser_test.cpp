#include "outbound/answer_parser.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace answer_parser_test {

using baton::outbound::AnswerParser;
using State = AnswerParser::State;

namespace {

struct Read {
  State state;
  int status;
  std::string body;
  bool stays_open;
  std::string rest;  // what was not used
};

// Feeds the text in pieces of this size, then ends the stream.
Read read(std::string_view text, std::size_t size) {
  AnswerParser parser;
  std::string buffer, body;
  while (!text.empty() && parser.state() != State::done && parser.state() != State::malformed) {
    std::string_view piece;
    const std::size_t used = parser.feed(text.substr(0, size), buffer, piece);
    body += piece;
    text.remove_prefix(used);
    if (parser.state() == State::begun) parser.begin_body();
  }
  if (text.empty()) parser.end();
  return {parser.state(), parser.head().status, body, parser.stays_open(), std::string(text)};
}

}  // namespace

TEST_CASE("AnswerParser: an answer means the same in pieces of any size") {
  const struct {
    std::string text;
    State state;
    int status;
    std::string body;
    bool stays_open;
    std::string rest = {};
  } rows[] = {
      {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", State::done, 200, "abc", true},
      {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP", State::done, 200, "abc", true, "HTTP"},
      {"HTTP/1.0 200\r\nContent-Length: 3\r\n\r\nabc", State::done, 200, "abc", false},
      {"HTTP/1.1 200 OK\nconnection: Keep-Alive, Close\ncontent-length:1\n\nx", State::done, 200, "x", false},
      {"HTTP/1.1 200 OK\r\n\r\nto the end", State::done, 200, "to the end", false},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: "
       "7\r\n\r\n2;x=y\r\nab\r\n1\r\nc\r\n0\r\nT: "
       "t\r\n\r\n",
       State::done, 200, "abc", true},
      {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 204 None\r\n\r\n",
       State::done, 204, "", true},
      {"HTTP/1.1 101 Switching Protocols\r\n\r\n", State::done, 101, "", true},
      {"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", State::done, 304, "", true},
      {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", State::malformed, 200, "abc", true},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", State::malformed, 200, "ab", true},
  };
  for (const auto& row : rows) {
    for (const std::size_t size : {1, 2, 7, 1'000}) {
      CAPTURE(row.text);
      CAPTURE(size);
      const Read got = read(row.text, size);
      CHECK(got.state == row.state);
      CHECK(got.status == row.status);
      CHECK(got.body == row.body);
      CHECK(got.stays_open == row.stays_open);
      CHECK(got.rest == row.rest);
    }
  }
}

TEST_CASE("AnswerParser: what is not an answer is refused where it shows") {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  const std::string rows[] = {
      "",
      "\r\n" + ok,
      "garbage\r\n\r\n",
      "HTTP/1.2 200 OK\r\n\r\n",
      "HTTP/1.1 2000 OK\r\n\r\n",
      "HTTP/1.1 -20 OK\r\n\r\n",
      "HTTP/1.1 099 OK\r\n\r\n",
      ok + "X: y",
      ok + "Content-Length: -1\r\n\r\n",
      ok + "Content-Length: 1, 1\r\n\r\nx",
      ok + "Content-Length: 99999999999999999999\r\n\r\n",
      ok + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
      ok + "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
      ok + std::string(200, 'x') + "X-A: " + std::string(8'192, 'b') + "\r\n\r\n",
  };
  for (const std::string& row : rows) {
    CAPTURE(row);
    CHECK(read(row, 1'000).state == State::malformed);
  }
}

}  // namespace answer_parser_test
