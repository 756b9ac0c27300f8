// WorkerPool: a bounded queue of functions and the threads that run them. The first thread starts at once,
// the others when they are needed, up to a maximum; none ends before `stop`. A prompt pool starts all of its
// threads at once: a thread started later by one of low priority would inherit the low priority for good.
//
// Threads: `try_submit` from any thread. Functions may block; that is what the pool is for. If the pool is
// full or stopping, `try_submit` returns false and leaves the function with its caller. Wake-ups are the main
// cost of a short function, so only one thread is woken at a time, and it wakes the next if work remains. A
// Burst on the submitting thread defers the wake-up.
// Shutdown: `stop` runs the queued functions, then joins. An exception ends only its own function and is
// reported.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/burst.h"
#include "base/thread_priority.h"

namespace baton::base {

class WorkerPool {
 public:
  WorkerPool(std::string name, int threads, std::size_t queue_max,
             ThreadPriority priority = ThreadPriority::normal);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  [[nodiscard]] bool try_submit(std::function<void()>&& work);
  void stop();

 private:
  void run();
  void add_thread();

  const std::string name_;
  const std::size_t threads_max_;
  const std::size_t queue_max_;
  const ThreadPriority priority_;
  std::mutex mutex_;
  struct Sleepers final : Wakeup {
    void wake() override { condition.notify_one(); }
    std::condition_variable condition;
  };
  const std::shared_ptr<Sleepers> sleepers_ = std::make_shared<Sleepers>();  // a burst may outlive the pool
  std::size_t idle_ = 0;                                                     // waiting threads
  bool waking_ = false;  // one was notified and has not woken yet; it will notify the next
  std::deque<std::function<void()>> queue_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;  // added under the lock; joined when no more are added
};

}  // namespace baton::base
