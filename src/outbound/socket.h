// Channel: a byte stream to another machine, whose waits are all limited. Socket is the unencrypted channel.
//
// Threads: one at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"

namespace baton::outbound {

using SteadyTime = std::chrono::steady_clock::time_point;

// The limits that end a wait early.
struct WaitLimits {
  std::optional<SteadyTime> deadline;  // of the whole conversation
  std::chrono::milliseconds idle{0};   // of one wait; zero means no limit
  int stop_fd = -1;                    // ends waits when it becomes readable; -1 means none
};

// Errors: deadline_exceeded, unavailable (the connection is broken, or `stop_fd` is readable).
class Channel {
 public:
  virtual ~Channel() = default;
  // Waits for at least one byte. Returns 0 at the end of the stream.
  virtual base::Result<std::size_t> read(char* buffer, std::size_t size) = 0;
  // Writes all bytes.
  virtual base::Result<void> write(std::string_view bytes) = 0;
  // Limits later waits to `longest`, in addition to the WaitLimits; zero removes this limit.
  virtual void bound_waits(std::chrono::milliseconds longest) = 0;
  // Begins another conversation, with its own limits.
  virtual void begin(const WaitLimits& limits) = 0;
  // Returns true if the other side has sent nothing that was not read, not even the end of the stream.
  virtual bool is_quiet() const = 0;
};

class Socket final : public Channel {
 public:
  // Connects to the first of `addresses` that accepts (RFC 8305, 5): texts of IPv4 and IPv6 addresses; no
  // name is resolved. The families take turns, and an attempt that neither succeeds nor fails within
  // kRaceDelay is joined by one at the next address. `timeout`: of each attempt. At most kAddressesMax
  // addresses are tried.
  static base::Result<std::unique_ptr<Socket>> connect(const std::vector<std::string>& addresses, int port,
                                                       std::chrono::milliseconds timeout,
                                                       const WaitLimits& limits);
  static constexpr std::chrono::milliseconds kRaceDelay{250};
  static constexpr std::size_t kAddressesMax = 10;

  // The address that it is connected to.
  const std::string& address() const { return address_; }

  base::Result<std::size_t> read(char* buffer, std::size_t size) override;
  base::Result<void> write(std::string_view bytes) override;
  void bound_waits(std::chrono::milliseconds longest) override { longest_wait_ = longest; }
  void begin(const WaitLimits& limits) override;
  bool is_quiet() const override;

 private:
  // The longest wait for bytes, in or out; zero means no bound.
  std::chrono::milliseconds idle() const {
    const bool is_bound = longest_wait_.count() > 0;
    if (limits_.idle.count() == 0 || (is_bound && longest_wait_ < limits_.idle)) return longest_wait_;
    return limits_.idle;
  }
  Socket(base::UniqueFd fd, std::string address, const WaitLimits& limits)
      : fd_(std::move(fd)), address_(std::move(address)), limits_(limits) {}

  // Waits for one of the poll bits `events`, for at most `idle` and until the conversation's deadline.
  base::Result<void> wait(short events, std::chrono::milliseconds idle);

  base::UniqueFd fd_;
  const std::string address_;
  WaitLimits limits_;
  std::chrono::milliseconds longest_wait_{0};
};

}  // namespace baton::outbound
