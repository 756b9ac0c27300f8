#include "http/outbound/answer_stream.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace baton::http::outbound {
namespace {

constexpr std::size_t kHeadMax = 32 * 1024;
constexpr std::size_t kLinesMax = 100;
// The library matches the first line with a recursive regular expression: long ones would exhaust the stack.
constexpr std::size_t kFirstLineMax = 1024;
constexpr std::size_t kLineMax = 8 * 1024;
// The longest silence of a server whose answer holds a part of the byte budget.
constexpr std::chrono::seconds kStallMax{30};

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
  const bool holds_much = intake_ != nullptr && intake_->holds_much();
  if (holds_much != std::exchange(waits_are_bound_, holds_much))
    channel_.bound_waits(holds_much ? std::chrono::milliseconds(kStallMax) : std::chrono::milliseconds(0));
  const auto got = channel_.read(buffer_.data(), buffer_.size());
  if (!got) return base::fail(got.error());
  begin_ = 0;
  end_ = *got;
  return intake_ == nullptr ? base::Result<void>() : intake_->take(*got, limits_);
}

ssize_t AnswerStream::read(char* to, std::size_t size) {
  if (failure_) return -1;
  if (begin_ == end_) {
    if (const auto filled = fill(); !filled) {
      failure_ = filled.error();
      return -1;
    }
  }
  const std::size_t count = std::min(size, end_ - begin_);
  if (count == 0) return 0;
  std::memcpy(to, buffer_.data() + begin_, count);
  begin_ += count;
  if (!within_bounds(to, count)) {
    failure_ = base::Error{base::ErrorCode::unavailable, "the answer is not HTTP within its limits", {}};
    return -1;
  }
  return static_cast<ssize_t>(count);
}

ssize_t AnswerStream::write(const char* from, std::size_t size) {
  if (failure_) return -1;
  if (const auto written = channel_.write({from, size}); !written) {
    failure_ = written.error();
    return -1;
  }
  return static_cast<ssize_t>(size);
}

}  // namespace baton::http::outbound
