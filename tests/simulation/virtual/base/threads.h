// Replaces src/base/threads.h: the same names, on fibers (fibers.h).
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>

#include "simulation/fibers.h"

namespace baton::base {

class Mutex {
 public:
  void lock() {
    if (held_) simulation::fibers().fail("a lock is taken twice by one thread");
    simulation::fibers().before_lock();
    held_ = true;
  }
  void unlock() {
    held_ = false;
    simulation::fibers().after_lock();
  }

 private:
  bool held_ = false;
};

struct SteadyTime {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<SteadyTime>;
  static constexpr bool is_steady = true;
  static time_point now() { return time_point(simulation::fibers().now()); }
};

class Condition {
 public:
  void notify_one() { simulation::fibers().wake_one(list_); }
  void notify_all() { simulation::fibers().wake_all(list_); }

  void wait(std::unique_lock<Mutex>& lock) { block(lock, {}); }
  template <class Predicate>
  void wait(std::unique_lock<Mutex>& lock, Predicate&& holds) {
    while (!holds()) wait(lock);
  }
  template <class Predicate>
  bool wait_until(std::unique_lock<Mutex>& lock, SteadyTime::time_point at, Predicate&& holds) {
    while (!holds()) {
      if (SteadyTime::now() >= at) return false;
      block(lock, at.time_since_epoch());
    }
    return true;
  }
  template <class Rep, class Period, class Predicate>
  bool wait_for(std::unique_lock<Mutex>& lock, std::chrono::duration<Rep, Period> time, Predicate&& holds) {
    return wait_until(lock, SteadyTime::now() + time, std::forward<Predicate>(holds));
  }

 private:
  // No other fiber runs between the unlock and the wait.
  void block(std::unique_lock<Mutex>& lock, std::optional<simulation::Time> until) {
    lock.unlock();
    simulation::fibers().wait(list_, until);
    lock.lock();
  }

  simulation::Fibers::WaitList list_;
};

class Thread {
 public:
  using id = simulation::Fibers::Fiber*;
  Thread() = default;
  template <class F>
  explicit Thread(F&& body) : fiber_(simulation::fibers().spawn(std::forward<F>(body))) {}
  Thread(Thread&& other) noexcept : fiber_(std::exchange(other.fiber_, nullptr)) {}
  Thread& operator=(Thread&& other) noexcept {
    if (joinable()) join();
    fiber_ = std::exchange(other.fiber_, nullptr);
    return *this;
  }
  ~Thread() {
    if (joinable()) join();
  }
  bool joinable() const { return fiber_ != nullptr; }
  void join() { simulation::fibers().join(std::exchange(fiber_, nullptr)); }
  id get_id() const { return fiber_; }

 private:
  id fiber_ = nullptr;
};

inline Thread::id this_thread_id() {
  return simulation::fibers().current();
}

template <class Rep, class Period>
void sleep_for(std::chrono::duration<Rep, Period> time) {
  simulation::fibers().sleep(time);
}

// Polls, because wake-ups of atomics are not simulated.
template <class T>
void wait_for_change(const std::atomic<T>& value, T old) {
  while (value == old) simulation::fibers().sleep(std::chrono::microseconds(20));
}

}  // namespace baton::base
