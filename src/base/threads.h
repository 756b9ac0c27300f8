// Threads, locks and steady time, under names of our own.
//
// The simulator (tests/simulation) has a header of the same name, which precedes this one on the include
// path. The same code then runs on one thread, under virtual time, in an order drawn from a seed. Code that
// the simulator runs (engine, notify, store/memory) must use only these names to wait, sleep or read the
// time.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace baton::base {

using Mutex = std::mutex;
using Condition = std::condition_variable;
using Thread = std::jthread;
using SteadyTime = std::chrono::steady_clock;

inline std::thread::id this_thread_id() {
  return std::this_thread::get_id();
}

template <class Rep, class Period>
void sleep_for(std::chrono::duration<Rep, Period> time) {
  std::this_thread::sleep_for(time);
}

// Waits until the value differs from `old` and a thread has notified.
template <class T>
void wait_for_change(const std::atomic<T>& value, T old) {
  value.wait(old);
}

}  // namespace baton::base
