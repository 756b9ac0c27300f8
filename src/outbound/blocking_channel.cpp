#include "outbound/blocking_channel.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>

namespace baton::outbound {
namespace {

using base::ErrorCode;
using base::fail;
using std::chrono::milliseconds;

// The time at which a wait that begins now is over; nullopt: never.
std::optional<SteadyTime> end_of_wait(const WaitLimits& limits, milliseconds longest) {
  std::optional<SteadyTime> end = limits.deadline;
  const SteadyTime now = std::chrono::steady_clock::now();
  for (const milliseconds most : {limits.idle, longest})
    if (most.count() > 0) end = std::min(end.value_or(SteadyTime::max()), now + most);
  return end;
}

}  // namespace

base::Result<void> BlockingChannel::wait(short events) const {
  constexpr milliseconds kLongest{3'600'000};  // of one poll
  std::array<pollfd, 2> fds{pollfd{channel_.fd(), events, 0}, pollfd{limits_.stop_fd, POLLIN, 0}};
  // A signal may interrupt a wait: its time still counts from its start.
  const std::optional<SteadyTime> end = end_of_wait(limits_, longest_wait_);
  while (true) {
    milliseconds left{-1};
    if (end) {
      left = std::chrono::ceil<milliseconds>(*end - std::chrono::steady_clock::now());
      if (left.count() <= 0) return fail(too_late());
    }
    const int count = ::poll(fds.data(), fds.size(), static_cast<int>(std::min(left, kLongest).count()));
    if (count < 0 && errno != EINTR)
      return fail(ErrorCode::unavailable, "waiting for the connection failed", std::strerror(errno));
    if (count > 0 && fds[1].revents != 0) return fail(canceled());
    if (count > 0 && fds[0].revents != 0) return {};
  }
}

base::Result<std::size_t> BlockingChannel::read(char* buffer, std::size_t size) {
  // The descriptor announces neither bytes that TLS has read already, nor that TLS has failed; one that can
  // be written is ready, so that only the deadline and the stop count.
  short events = channel_.has_more() || is_broken_ ? POLLIN | POLLOUT : POLLIN;
  while (true) {
    if (const auto ready = wait(events); !ready) return fail(ready.error());
    const auto got = channel_.read(buffer, size);
    if (!got) return fail(got.error());
    // TLS may have to write in order to read.
    const auto flushed = channel_.flush();
    if (!flushed) return fail(flushed.error());
    if (*got) return **got;
    events = *flushed ? POLLIN : POLLIN | POLLOUT;
  }
}

base::Result<void> BlockingChannel::write(std::string_view bytes) {
  while (true) {
    if (const auto ready = wait(POLLOUT); !ready) return ready;
    const auto written = channel_.write(bytes);
    const auto flushed = written ? channel_.flush() : base::Result<bool>(true);
    is_broken_ = !written || !flushed;
    if (is_broken_) return fail(written ? flushed.error() : written.error());
    bytes.remove_prefix(*written);
    if (bytes.empty() && *flushed) return {};
  }
}

}  // namespace baton::outbound
