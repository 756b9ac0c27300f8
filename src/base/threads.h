// Threads, locks and steady time, under names of our own.
//
// The simulator (tests/simulation) has a header of this name that stands before this one: the same code then
// runs on one thread, under virtual time, in an order drawn from a seed. Code that the simulator runs
// (engine, notify, store/memory) uses these names and no others for what waits, sleeps or asks what time it
// is.
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

// Waits until somebody has changed the value and notified.
template <class T>
void wait_for_change(const std::atomic<T>& value, T old) {
  value.wait(old);
}

}  // namespace baton::base
