// AnswerParser: reads an HTTP/1 answer from bytes that arrive in pieces, within limits on its lines and its
// head (RFC 9112). Interim answers are passed over.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/chunked_body.h"
#include "outbound/answer_rules.h"

namespace baton::outbound {

class AnswerParser {
 public:
  enum class State {
    head,
    begun,  // the head is complete; `begin_body` comes next
    body,
    done,
    malformed,  // or over a limit
  };
  struct Head {
    int status = 0;
    bool is_http_1_1 = false;
    std::vector<std::pair<std::string, std::string>> headers;
  };

  // Reads bytes and returns the number that were used: fewer than given only if the state is `begun`, `done`
  // or `malformed`, or at the end of a piece of the body. `piece`: the piece of the body that was read; it is
  // a part of `bytes`, or in `buffer`, which need not be empty.
  std::size_t feed(std::string_view bytes, std::string& buffer, std::string_view& piece);
  // Reads the body, after the state was `begun`.
  void begin_body() { state_ = has_no_rest() ? State::done : State::body; }
  // The other side has ended the stream: `done` if that may be the answer's end, else `malformed`.
  void end();

  State state() const { return state_; }
  const Head& head() const { return head_; }
  bool has_no_body() const { return outbound::has_no_body(head_.status); }
  // True if the server keeps the connection open, and the end of the answer is not that of the stream.
  bool stays_open() const;

 private:
  enum class Framing : std::uint8_t { until_close, length, chunks };

  bool has_no_rest() const { return has_no_body() || (framing_ == Framing::length && left_ == 0); }
  std::size_t feed_head(std::string_view bytes);
  void take_line(std::string_view line);
  void take_first_line(std::string_view line);
  void take_header(std::string_view line);
  void end_head();
  std::string_view header(std::string_view name) const;

  State state_ = State::head;
  Framing framing_ = Framing::until_close;
  std::string line_;  // the beginning of an unfinished one
  std::size_t head_size_ = 0;
  std::size_t lines_ = 0;
  int interims_ = 0;
  Head head_;
  std::uint64_t left_ = 0;
  http::ChunkedBody chunks_;
};

}  // namespace baton::outbound
