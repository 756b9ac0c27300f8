// Channel: a byte stream to another machine whose every wait is bounded. Socket is the plain one.
//
// Threads: one at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/unique_fd.h"

namespace baton::net {

using SteadyTime = std::chrono::steady_clock::time_point;

// What ends a wait, beside what is waited for.
struct WaitLimits {
  std::optional<SteadyTime> deadline;  // of the whole conversation
  std::chrono::milliseconds idle{0};   // of one wait; zero means no bound
  int stop_fd = -1;                    // readable: give up; -1 means none
};

// Errors: deadline_exceeded, unavailable (broken, or told to stop).
class Channel {
 public:
  virtual ~Channel() = default;
  // Waits for at least one byte. 0 is the end of what the other side sends.
  virtual base::Result<std::size_t> read(char* buffer, std::size_t size) = 0;
  // All of it.
  virtual base::Result<void> write(std::string_view bytes) = 0;
};

class Socket final : public Channel {
 public:
  // Dials exactly this address, text of an IPv4 or IPv6 one; nothing is looked up here.
  static base::Result<std::unique_ptr<Socket>> connect(const std::string& address, int port,
                                                       std::chrono::milliseconds timeout,
                                                       const WaitLimits& limits);

  base::Result<std::size_t> read(char* buffer, std::size_t size) override;
  base::Result<void> write(std::string_view bytes) override;

 private:
  Socket(base::UniqueFd fd, const WaitLimits& limits) : fd_(std::move(fd)), limits_(limits) {}

  // Until one of the poll bits `events` is there, or the idle time, or the conversation's deadline.
  base::Result<void> wait(short events, std::chrono::milliseconds idle);

  base::UniqueFd fd_;
  const WaitLimits limits_;
};

}  // namespace baton::net
