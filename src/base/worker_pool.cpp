#include "base/worker_pool.h"

#include <pthread.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "base/exception_report.h"

namespace baton::base {
namespace {

void execute(const std::string& pool, std::function<void()>& work) noexcept {
  try {
    work();
  } catch (const std::exception& error) {
    report_exception(pool.c_str(), error.what());
  } catch (...) {
    report_exception(pool.c_str(), "an exception of unknown type");
  }
  work = nullptr;
}

}  // namespace

WorkerPool::WorkerPool(std::string name, int threads, std::size_t queue_max, ThreadPriority priority)
    : name_(name.substr(0, 15)),
      threads_max_(static_cast<std::size_t>(std::max(threads, 1))),
      queue_max_(queue_max),
      priority_(priority) {
  std::lock_guard lock(mutex_);
  do {
    add_thread();
  } while (priority == ThreadPriority::prompt && threads_.size() < threads_max_);
}

void WorkerPool::add_thread() {
  threads_.emplace_back([this] { run(); });
  pthread_setname_np(threads_.back().native_handle(), name_.c_str());
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
    // Each idle thread takes only one function, so more queued functions need another thread.
    if (queue_.size() > idle_ && threads_.size() < threads_max_) {
      try {
        add_thread();
      } catch (const std::exception&) {
        // The system has no thread or no memory for it now; the existing ones do the work, which is queued.
      }
    }
  }
  if (wakes) Burst::wake(sleepers_);
  return true;
}

void WorkerPool::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  sleepers_->condition.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void WorkerPool::run() {
  set_priority(priority_);
  std::unique_lock lock(mutex_);
  while (true) {
    while (queue_.empty() && !stopping_) {
      ++idle_;
      sleepers_->condition.wait(lock);
      --idle_;
      waking_ = false;
    }
    if (queue_.empty()) return;
    std::function<void()> work = std::move(queue_.front());
    queue_.pop_front();
    const bool wakes = !queue_.empty() && idle_ > 0 && !std::exchange(waking_, true);
    lock.unlock();
    if (wakes) sleepers_->condition.notify_one();
    execute(name_, work);
    lock.lock();
  }
}

}  // namespace baton::base
