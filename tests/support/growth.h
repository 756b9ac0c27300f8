// Checks that the cost of work grows no faster than its size. The work runs at one size and at eight times
// that size; the larger run must take less than 24 times the thread's CPU time. Quadratic work would take 64
// times. The margin above 8 is for the larger run's memory: it is new to the process, which costs time on
// some machines.
#pragma once

#include <doctest/doctest.h>
#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace baton::test {

using Work = std::function<void()>;
// Prepares work on `size` bytes of input. Only the returned work is measured.
using MakeWork = std::function<Work(std::size_t size)>;

constexpr std::size_t kGrowthStep = 8;

// `element` with each # replaced by the index.
inline std::string with_index(const std::string& element, std::size_t index) {
  std::string text;
  for (const char c : element) c == '#' ? text += std::to_string(index) : text += c;
  return text;
}

// A text of about `size` bytes that repeats `element`, with each # replaced by the repetition's index.
struct GrowingText {
  std::string before, element, after;
  std::string between = ",";

  std::string of(std::size_t size) const {
    std::string text = before;
    for (std::size_t i = 0; text.size() < size; ++i) {
      if (i > 0) text += between;
      text += with_index(element, i);
    }
    return text + after;
  }
};

// Keeps freed memory in the process. Otherwise the measured time would include the page faults of memory that
// was returned to the system and allocated again.
inline void keep_memory() {
  constexpr int kMuch = 1 << 30;
  mallopt(M_MMAP_THRESHOLD, kMuch);
  mallopt(M_TRIM_THRESHOLD, kMuch);
  mallopt(M_TOP_PAD, kMuch / 4);
}

inline double thread_cpu_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

inline double time_of(const Work& work) {
  const double begin = thread_cpu_time();
  work();
  return thread_cpu_time() - begin;
}

// A sanitizer distorts times, which the build without one has checked. With one, the smaller work runs once.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kTakesTimes = false;
#else
constexpr bool kTakesTimes = true;
#endif

// The work that grows is often a small share of the time measured, so the fastest run of each size counts.
inline void check_growth(const std::string& name, std::size_t size, const MakeWork& make) {
  if (!kTakesTimes) return make(size)();
  constexpr int kTries = 20;  // other processes may disturb a measurement
  std::array<double, 2> best{};
  best.fill(std::numeric_limits<double>::infinity());
  const auto grows_too_fast = [&] { return best[1] >= 3 * kGrowthStep * best[0]; };
  const std::array works{make(size), make(kGrowthStep * size)};
  for (int tries = 0; tries < kTries && (tries == 0 || grows_too_fast()); ++tries) {
    for (std::size_t i = 0; i < works.size(); ++i) best[i] = std::min(best[i], time_of(works[i]));
  }
  CAPTURE(name);
  CHECK_MESSAGE(!grows_too_fast(), name, ": ", best[0], " s, ", best[1], " s");
}

}  // namespace baton::test
