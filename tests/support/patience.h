// How tests wait, and for how long.
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

// Waits until the condition is true; false if that takes longer than `patience()`. `pause`: between two
// looks, for a condition that is costly to look at.
template <class Condition>
bool eventually(Condition&& condition, std::chrono::milliseconds pause = {}) {
  const auto until = std::chrono::steady_clock::now() + patience();
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    pause.count() > 0 ? std::this_thread::sleep_for(pause) : std::this_thread::yield();
  }
  return true;
}

// Lets other threads run for about `time`. A number of yields would take seconds on a busy machine.
inline void give_way(std::chrono::microseconds time = std::chrono::microseconds(500)) {
  const auto until = std::chrono::steady_clock::now() + time;
  do std::this_thread::yield();
  while (std::chrono::steady_clock::now() < until);
}

}  // namespace baton::test
