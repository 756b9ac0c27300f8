// Defines what virtual/base declares, and makes ids from the seed.
#include <cstdio>
#include <exception>
#include <optional>

#include "base/event_loop.h"
#include "base/id.h"
#include "base/worker_pool.h"
#include "world.h"

namespace baton::base {

using simulation::fibers;
using simulation::Time;
using simulation::world;

WorkerPool::WorkerPool(const std::string&, int threads, std::size_t queue_max, ThreadPriority)
    : threads_max_(static_cast<std::size_t>(threads)), queue_max_(queue_max) {}

bool WorkerPool::try_submit(std::function<void()>&& work) {
  if (stopping_ || queue_.size() >= queue_max_) return false;
  queue_.push_back(std::move(work));
  if (!idle_.waiting.empty()) {
    fibers().wake_one(idle_);
  } else if (threads_.size() < threads_max_) {
    threads_.emplace_back([this] { run(); });
  }
  return true;
}

void WorkerPool::stop() {
  stopping_ = true;
  fibers().wake_all(idle_);
  for (Thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void WorkerPool::run() {
  while (true) {
    while (queue_.empty()) {
      if (stopping_) return;
      fibers().wait(idle_);
    }
    const std::function<void()> work = std::move(queue_.front());
    queue_.pop_front();
    work();
  }
}

void EventLoop::start() {
  thread_ = Thread([this] { run(); });
}

void EventLoop::stop() {
  stopping_ = true;
  fibers().wake_all(asleep_);
  if (thread_.joinable()) thread_.join();
}

void EventLoop::post(Callback callback) {
  posted_.push_back(std::move(callback));
  fibers().wake_all(asleep_);
}

EventLoop::TimerId EventLoop::after(std::chrono::milliseconds delay, Callback callback) {
  const Time at = fibers().now() + delay;
  timers_.emplace(std::make_pair(at, ++last_timer_), std::move(callback));
  deadlines_[last_timer_] = at;
  fibers().wake_all(asleep_);
  return last_timer_;
}

void EventLoop::cancel(TimerId timer) {
  const auto found = deadlines_.find(timer);
  if (found == deadlines_.end()) return;
  const auto entry = timers_.find({found->second, timer});
  const Callback dropped = std::move(entry->second);  // its destructor may come back here
  timers_.erase(entry);
  deadlines_.erase(found);
}

void EventLoop::run() {
  while (!stopping_) {
    const bool is_due = !timers_.empty() && timers_.begin()->first.first <= fibers().now();
    if (is_due && (posted_.empty() || world().random.chance(500))) {
      const auto first = timers_.begin();
      const Callback due = std::move(first->second);
      deadlines_.erase(first->first.second);
      timers_.erase(first);
      due();
    } else if (!posted_.empty()) {
      const Callback next = std::move(posted_.front());
      posted_.pop_front();
      next();
    } else {
      std::optional<Time> until;
      if (!timers_.empty()) until = timers_.begin()->first.first;
      fibers().wait(asleep_, until);
    }
  }
}

// Version 7, as in src/base/id.cpp.
std::string make_uuid() {
  const auto ms = static_cast<std::uint64_t>(to_ms(world().clock.now()));
  const std::uint64_t random = world().random.next();
  char text[40];
  std::snprintf(text, sizeof text, "%08x-%04x-7%03x-%04x-%012llx", static_cast<unsigned>(ms >> 16),
                static_cast<unsigned>(ms & 0xffff), static_cast<unsigned>(random >> 52),
                static_cast<unsigned>(0x8000 | (random & 0x3fff)),
                static_cast<unsigned long long>(world().random.next() >> 16));
  return text;
}

std::string random_hex(int bytes) {
  std::string text;
  while (std::ssize(text) < 2L * bytes) text += "0123456789abcdef"[world().random.below(16)];
  return text;
}

std::uint64_t random_number() {
  return world().random.next();
}

}  // namespace baton::base
