#include "outbound/answer_stream.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "outbound/answer_rules.h"
#include "outbound/request_rules.h"

namespace baton::outbound {
namespace {

// Returns the length of the interim answer that the bytes begin with, 0 if they begin another one, and
// nullopt if more bytes are needed to tell. 101 changes the protocol, so it is not interim.
std::optional<std::size_t> interim_in(std::string_view bytes) {
  constexpr std::string_view kBegin = "HTTP/1.1 1", kSwitch = "HTTP/1.1 101", kEnd = "\r\n\r\n";
  if (bytes.substr(0, kBegin.size()) != kBegin.substr(0, bytes.size())) return 0;
  if (bytes.size() < kSwitch.size()) return std::nullopt;
  if (bytes.starts_with(kSwitch)) return 0;
  const std::size_t end = bytes.find(kEnd);
  if (end == bytes.npos) return std::nullopt;
  return end + kEnd.size();
}

}  // namespace

bool AnswerStream::within_bounds(const char* bytes, std::size_t size) {
  // The library reads lines (head, chunk sizes) byte by byte and bodies in blocks.
  line_size_ = size == 1 && *bytes != '\n' ? line_size_ + 1 : 0;
  if (line_size_ > (lines_ == 0 ? kFirstLineMax : kLineMax)) return false;
  if (!in_head_) return true;
  head_size_ += size;
  if (size == 1 && *bytes == '\n') ++lines_;
  return head_size_ <= kHeadMax && lines_ <= kLinesMax;
}

base::Result<void> AnswerStream::fill() {
  channel_.bound_waits(longest_silence(request_));
  const auto got = channel_.read(buffer_.data() + end_, buffer_.size() - end_);
  if (!got) return base::fail(got.error());
  is_over_ = *got == 0;
  has_begun_ = has_begun_ || *got > 0;
  end_ += *got;
  return request_.intake == nullptr ? base::Result<void>() : request_.intake->acquire(*got, limits_);
}

base::Result<void> AnswerStream::refill() {
  begin_ = end_ = 0;
  do {
    if (const auto filled = fill(); !filled) return filled;
    while (may_be_interim_) {
      const auto length = interim_in({buffer_.data(), end_});
      if (!length) break;
      may_be_interim_ = *length > 0 && ++interims_ <= kInterimsMax;
      std::memmove(buffer_.data(), buffer_.data() + *length, end_ - *length);
      end_ -= *length;
    }
  } while (may_be_interim_ && !is_over_ && end_ < buffer_.size());
  may_be_interim_ = false;
  return {};
}

ssize_t AnswerStream::read(char* to, std::size_t size) {
  if (failure_) return -1;
  if (begin_ == end_) {
    if (const auto filled = refill(); !filled) {
      failure_ = filled.error();
      return -1;
    }
  }
  const std::size_t count = std::min(size, end_ - begin_);
  if (count == 0) return 0;
  std::memcpy(to, buffer_.data() + begin_, count);
  begin_ += count;
  if (!within_bounds(to, count)) {
    failure_ = malformed_answer();
    return -1;
  }
  return static_cast<ssize_t>(count);
}

ssize_t AnswerStream::write(const char* from, std::size_t size) {
  if (failure_) return -1;
  if (write_failure_) return static_cast<ssize_t>(size);
  if (const auto written = channel_.write({from, size}); !written) {
    const bool is_late = written.error().code == base::ErrorCode::deadline_exceeded;
    // A server that refuses a body may have answered before it closed the connection. So the library does not
    // see that the connection is broken, and goes on to read.
    (is_late ? failure_ : write_failure_) = written.error();
    if (is_late) return -1;
  }
  return static_cast<ssize_t>(size);
}

}  // namespace baton::outbound
