// WorkerPool: up to a number of threads, and a bounded queue of functions. The threads are made as they come
// to be needed, the first one at once, and stay.
//
// Threads: `try_submit` from any thread. A function may block; that is what the pool is for.
// Full: `try_submit` answers false and leaves the function with its caller.
// Wake-ups are the dearest part of a short function: only one thread is told at a time, and it tells the next
// if more is left than it takes.
// Shutdown: `stop` runs what is queued, then joins. An exception ends its function alone.
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

namespace baton::base {

class WorkerPool {
 public:
  WorkerPool(std::string name, int threads, std::size_t queue_max);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  [[nodiscard]] bool try_submit(std::function<void()>&& work);
  void stop();

  // While one lives, nobody is woken for what this thread submits to any pool: for a thread that submits
  // several functions within microseconds, and waits for none of them. Bursts may nest; the end of the
  // outermost wakes. A pool may be gone by then: it has run what it had.
  class Burst {
   public:
    Burst() { ++depth_; }
    ~Burst();
    Burst(const Burst&) = delete;
    Burst& operator=(const Burst&) = delete;

   private:
    friend WorkerPool;
    // Whether the end of this thread's burst will wake it.
    static bool wakes_later(const std::shared_ptr<std::condition_variable>& wakeup);
    static thread_local int depth_;
    static thread_local std::vector<std::shared_ptr<std::condition_variable>> to_wake_;
  };

 private:
  void run();
  void add_thread();

  const std::string name_;
  const std::size_t threads_max_;
  const std::size_t queue_max_;
  std::mutex mutex_;
  const std::shared_ptr<std::condition_variable> wakeup_ = std::make_shared<std::condition_variable>();
  std::size_t idle_ = 0;  // threads that wait
  bool waking_ = false;   // one of them was told and has not come yet: it will tell the next
  std::deque<std::function<void()>> queue_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;  // made under the lock; joined when no more are made
};

}  // namespace baton::base
