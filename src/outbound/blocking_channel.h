// BlockingChannel: reads and writes a Channel on the calling thread, for calls that block. Its waits are all
// limited.
//
// Threads: one at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

#include "outbound/socket.h"
#include "outbound/wait_limits.h"

namespace baton::outbound {

// Errors: deadline_exceeded, unavailable (the connection is broken, or the stop of the limits).
class BlockingChannel {
 public:
  // Both must outlive this.
  BlockingChannel(Channel& channel, const WaitLimits& limits) : channel_(channel), limits_(limits) {}

  // Waits for at least one byte. Returns 0 at the end of the stream.
  base::Result<std::size_t> read(char* buffer, std::size_t size);
  // Writes all bytes.
  base::Result<void> write(std::string_view bytes);
  // Limits later waits to `longest`, in addition to the WaitLimits; zero removes this limit.
  void bound_waits(std::chrono::milliseconds longest) { longest_wait_ = longest; }

 private:
  // Waits for one of these poll bits.
  base::Result<void> wait(short events) const;

  Channel& channel_;
  const WaitLimits& limits_;
  std::chrono::milliseconds longest_wait_{0};
  bool is_broken_ = false;  // a write has failed
};

}  // namespace baton::outbound
