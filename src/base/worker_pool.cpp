#include "base/worker_pool.h"

#include <pthread.h>

#include <utility>

namespace baton::base {

WorkerPool::WorkerPool(std::string name, int threads, std::size_t queue_max) : queue_max_(queue_max) {
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { run(); });
    pthread_setname_np(threads_.back().native_handle(), name.substr(0, 15).c_str());
  }
}

WorkerPool::~WorkerPool() {
  stop();
}

bool WorkerPool::try_submit(std::function<void()>&& work) {
  bool wakes = false;
  {
    std::lock_guard lock(mutex_);
    if (stopping_ || queue_.size() >= queue_max_) return false;
    queue_.push_back(std::move(work));
    wakes = idle_ > 0 && !std::exchange(waking_, true);
  }
  if (wakes) wakeup_.notify_one();
  return true;
}

void WorkerPool::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wakeup_.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void WorkerPool::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    while (queue_.empty() && !stopping_) {
      ++idle_;
      wakeup_.wait(lock);
      --idle_;
      waking_ = false;
    }
    if (queue_.empty()) return;
    std::function<void()> work = std::move(queue_.front());
    queue_.pop_front();
    const bool wakes = !queue_.empty() && idle_ > 0 && !std::exchange(waking_, true);
    lock.unlock();
    if (wakes) wakeup_.notify_one();
    work();
    work = nullptr;
    lock.lock();
  }
}

}  // namespace baton::base
