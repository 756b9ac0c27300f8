// WorkerPool: a bounded queue of functions and the threads that run them. The first thread starts at once,
// the others when they are needed, up to a maximum; none ends before `stop`.
//
// Threads: `try_submit` from any thread. Functions may block; that is what the pool is for.
// Full or stopping: `try_submit` returns false and leaves the function with its caller.
// Wake-ups are the main cost of a short function: only one thread is woken at a time, and it wakes the next
// if work remains.
// Shutdown: `stop` runs what is queued, then joins. An exception ends only its own function and is reported.
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

  // While a Burst lives, functions that this thread submits to any pool wake no worker. For threads that
  // submit several functions within microseconds and wait for none of them. Bursts may nest; the end of the
  // outermost wakes the workers. A pool may be destroyed before that: it has run its queue by then.
  class Burst {
   public:
    Burst() { ++depth_; }
    ~Burst();
    Burst(const Burst&) = delete;
    Burst& operator=(const Burst&) = delete;

   private:
    friend WorkerPool;
    // Returns whether the end of this thread's burst will notify `wakeup`.
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
  std::size_t idle_ = 0;  // waiting threads
  bool waking_ = false;   // one was notified and has not woken yet; it will notify the next
  std::deque<std::function<void()>> queue_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;  // added under the lock; joined when no more are added
};

}  // namespace baton::base
