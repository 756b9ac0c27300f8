// AnswerStream: the stream that cpp-httplib writes a request to and reads the answer from. It wraps a
// BlockingChannel and adds features that the library lacks: limits on lines and the head, the byte budget,
// and the reason for a failure.
#pragma once

#include <httplib.h>

#include <array>
#include <chrono>
#include <optional>

#include "outbound/blocking_channel.h"
#include "outbound/http_client.h"

namespace baton::outbound {

class AnswerStream final : public httplib::Stream {
 public:
  // All must outlive this.
  AnswerStream(Channel& channel, const HttpRequest& request, const WaitLimits& limits)
      : channel_(channel, limits), request_(request), limits_(limits) {}

  // Call when the head of the answer is complete: the limit on the head no longer applies.
  void end_head() { in_head_ = false; }
  // Returns true if a byte of the answer was read.
  bool has_begun() const { return has_begun_; }
  // Returns true if the connection can serve another request after a whole answer.
  bool is_reusable() const { return !failure() && !is_over_ && begin_ == end_; }
  // The error of the first read or write that failed; nullopt if none failed.
  const std::optional<base::Error>& failure() const { return write_failure_ ? write_failure_ : failure_; }

  bool is_readable() const override { return !failure_; }
  bool is_writable() const override { return !failure_; }
  ssize_t read(char* to, std::size_t size) override;
  ssize_t write(const char* from, std::size_t size) override;
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return 0; }  // never used: there is no other descriptor to find

 private:
  // Counts these bytes. Returns true if the answer is still within its limits.
  bool within_bounds(const char* bytes, std::size_t size);
  // Reads more bytes to the end of the buffer's content.
  base::Result<void> fill();
  // Fills the empty buffer. Leaves out interim answers (RFC 9110, 15.2): the library would take one for the
  // answer.
  base::Result<void> refill();

  BlockingChannel channel_;
  const HttpRequest& request_;
  const WaitLimits& limits_;
  std::array<char, 16 * 1024> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool may_be_interim_ = true;  // the next bytes begin an answer
  int interims_ = 0;
  bool has_begun_ = false;
  bool is_over_ = false;  // the other side has ended the stream
  bool in_head_ = true;
  std::size_t head_size_ = 0;
  std::size_t lines_ = 0;
  std::size_t line_size_ = 0;
  std::optional<base::Error> write_failure_;  // the answer may have come before
  std::optional<base::Error> failure_;        // nothing more can be read
};

}  // namespace baton::outbound
