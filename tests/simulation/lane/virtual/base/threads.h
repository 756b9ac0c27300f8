// Replaces src/base/threads.h: one thread, whose sleeps only advance the virtual time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace baton::base {

using Mutex = std::mutex;
using Condition = std::condition_variable;
using Thread = std::jthread;

struct SteadyTime {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<SteadyTime>;
  static constexpr bool is_steady = true;
  static time_point now() { return time_point(passed()); }
  static duration& passed() {
    static duration since_begin{};
    return since_begin;
  }
};

template <class Rep, class Period>
void sleep_for(std::chrono::duration<Rep, Period> time) {
  SteadyTime::passed() += std::chrono::duration_cast<SteadyTime::duration>(time);
}

}  // namespace baton::base
