// Replaces src/base/worker_pool.h: the same promises, with fibers (fibers.h) as threads.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "base/burst.h"
#include "base/thread_priority.h"
#include "base/threads.h"

namespace baton::base {

class WorkerPool {
 public:
  WorkerPool(const std::string& name, int threads, std::size_t queue_max,
             ThreadPriority priority = ThreadPriority::normal);
  ~WorkerPool() { stop(); }
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  [[nodiscard]] bool try_submit(std::function<void()>&& work);
  void stop();

 private:
  void run();

  const std::size_t threads_max_, queue_max_;
  simulation::Fibers::WaitList idle_;
  std::deque<std::function<void()>> queue_;
  bool stopping_ = false;
  std::vector<Thread> threads_;
};

}  // namespace baton::base
