#include "outbound/blocking_channel.h"

#include <doctest/doctest.h>
#include <sys/eventfd.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/unique_fd.h"

namespace blocking_channel_test {

using namespace std::chrono_literals;
using baton::base::ErrorCode;
using baton::base::Result;
using baton::base::UniqueFd;
using baton::outbound::BlockingChannel;
using baton::outbound::Channel;
using baton::outbound::WaitLimits;

namespace {

// Its descriptor can always be written, and be read while `is_readable`. It takes one byte at a time, and
// sends it with the second flush.
class SlowChannel final : public Channel {
 public:
  explicit SlowChannel(bool is_readable) : fd_(eventfd(is_readable ? 1 : 0, EFD_CLOEXEC)) {}

  int fd() const override { return fd_.get(); }
  Result<std::optional<std::size_t>> read(char* buffer, std::size_t) override {
    if (waiting.empty()) return std::nullopt;
    *buffer = waiting.front();
    waiting.erase(0, 1);
    return 1;
  }
  Result<std::size_t> write(std::string_view bytes) override {
    if (!taken_.empty() || bytes.empty()) return 0;
    taken_ = bytes.substr(0, 1);
    is_second_ = false;
    return 1;
  }
  Result<bool> flush() override {
    if (taken_.empty()) return true;
    if (!std::exchange(is_second_, true)) return false;
    sent += std::exchange(taken_, {});
    return true;
  }
  bool has_more() const override { return !waiting.empty(); }
  bool is_quiet() const override { return waiting.empty(); }

  std::string waiting;  // to be read, without a word from the descriptor
  std::string sent;

 private:
  const UniqueFd fd_;
  std::string taken_;
  bool is_second_ = false;
};

WaitLimits until(std::chrono::milliseconds from_now) {
  WaitLimits limits;
  limits.deadline = std::chrono::steady_clock::now() + from_now;
  return limits;
}

}  // namespace

TEST_CASE(
    "BlockingChannel: a write ends when all is sent, a read with what the descriptor does not announce") {
  SlowChannel slow(false);
  const WaitLimits none;
  BlockingChannel channel(slow, none);
  REQUIRE(channel.write("abc"));
  CHECK(slow.sent == "abc");
  slow.waiting = "x";
  char byte = 0;
  CHECK(*channel.read(&byte, 1) == 1);
  CHECK(byte == 'x');
}

TEST_CASE("BlockingChannel: a wait ends by each of its limits, also while bytes are there") {
  char byte = 0;
  for (const bool is_readable : {false, true}) {
    SlowChannel slow(is_readable);
    WaitLimits limits = until(10ms);
    CHECK(BlockingChannel(slow, limits).read(&byte, 1).error().code == ErrorCode::deadline_exceeded);
    slow.waiting = "x";
    CHECK(BlockingChannel(slow, limits).read(&byte, 1).error().code == ErrorCode::deadline_exceeded);
    CHECK(BlockingChannel(slow, limits).write("x").error().code == ErrorCode::deadline_exceeded);
    const UniqueFd stop(eventfd(1, EFD_CLOEXEC));
    limits.deadline.reset();
    limits.stop_fd = stop.get();
    CHECK(BlockingChannel(slow, limits).read(&byte, 1).error().for_caller == "the request was canceled");
    CHECK(slow.waiting == "x");
  }
  SlowChannel silent(false);
  WaitLimits limits;
  BlockingChannel channel(silent, limits);
  channel.bound_waits(10ms);
  CHECK(channel.read(&byte, 1).error().code == ErrorCode::deadline_exceeded);
  channel.bound_waits(0ms);
  limits.idle = 10ms;
  CHECK(channel.read(&byte, 1).error().code == ErrorCode::deadline_exceeded);
}

}  // namespace blocking_channel_test
