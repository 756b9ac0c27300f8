// How long tests wait.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <thread>

namespace baton::test {

// The longest time that tests wait for something that must happen. It is far more than ever needed, even on a
// busy machine; a test that waits this long reports a failure.
inline std::chrono::milliseconds patience() {
  static const std::chrono::milliseconds time = [] {
    const char* scale = std::getenv("BATON_TIME_SCALE");
    const double times = std::clamp(scale != nullptr ? std::atof(scale) : 1.0, 1.0, 100.0);
    return std::chrono::milliseconds(static_cast<std::int64_t>(60'000 * times));
  }();
  return time;
}

// Lets other threads run for about `time`. A number of yields would take seconds on a busy machine.
inline void give_way(std::chrono::microseconds time = std::chrono::microseconds(500)) {
  const auto until = std::chrono::steady_clock::now() + time;
  do std::this_thread::yield();
  while (std::chrono::steady_clock::now() < until);
}

}  // namespace baton::test
