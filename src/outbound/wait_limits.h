// The limits of a wait for another machine.
#pragma once

#include <chrono>
#include <optional>

namespace baton::outbound {

using SteadyTime = std::chrono::steady_clock::time_point;

struct WaitLimits {
  std::optional<SteadyTime> deadline;
  int stop_fd = -1;  // ends the wait when it becomes readable; -1 means none
};

}  // namespace baton::outbound
