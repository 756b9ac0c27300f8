// The limits of a wait for another machine, and the errors of one that ends early.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>

#include "base/error.h"

namespace baton::outbound {

using SteadyTime = std::chrono::steady_clock::time_point;

struct WaitLimits {
  std::optional<SteadyTime> deadline;          // of the whole conversation
  std::chrono::milliseconds idle{0};           // of one wait for the server; zero means no limit
  int stop_fd = -1;                            // ends the wait when it becomes readable; -1 means none
  const std::atomic<bool>* stopped = nullptr;  // true ends the wait; null means none
};

inline base::Error too_late() {
  return {base::ErrorCode::deadline_exceeded, "the server took too long to answer", {}};
}

inline base::Error canceled() {
  return {base::ErrorCode::unavailable, "the request was canceled", {}};
}

}  // namespace baton::outbound
