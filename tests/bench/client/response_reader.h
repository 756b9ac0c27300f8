// ResponseReader: incremental parser of HTTP/1.1 responses.
//
// Supports bodies with Content-Length, in chunks, and until the connection's end. Counts the server-sent
// events in a body. Only for this program: trusts servers to send valid HTTP.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace baton::bench {

class ResponseReader {
 public:
  // Consumes the bytes of the current response, and returns their number.
  std::size_t take(std::string_view bytes);
  // Call at the end of the connection.
  void end();

  bool whole() const { return state_ == State::whole; }
  int status() const { return status_; }
  int events() const { return events_; }
  bool keeps_open() const { return keeps_open_; }
  // The end of the body, for checks of the answer.
  const std::string& tail() const { return tail_; }

  void reset() { *this = {}; }

 private:
  enum class State { head, body, chunk_size, chunk, chunk_end, trailer, whole };

  std::size_t take_line(std::string_view bytes);
  std::size_t take_body(std::string_view bytes);
  void on_line();
  void on_head_line(std::string_view line);
  void on_head_end();
  void on_chunk_size();
  void see(std::string_view body);

  State state_ = State::head;
  std::string line_;
  int status_ = 0;
  bool chunked_ = false, keeps_open_ = true, until_end_ = true;
  std::size_t left_ = 0;  // of the body or chunk
  int events_ = 0;
  std::string tail_;
  std::string field_;  // the beginning of the event stream's current line
  bool in_field_ = true;
};

}  // namespace baton::bench
