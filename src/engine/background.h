// Background: the pool for the engine's blocking store reads, and its timers. Keeps both off the engine's
// thread and the event loops: a read of a task that is not in memory may wait for the disk, or for a flush.
// On a busy machine the reads come last: those of large plans' turns would hold up whoever waits for a small
// answer.
#pragma once

#include <atomic>

#include "base/event_loop.h"
#include "base/worker_pool.h"

namespace baton::engine {

class Background {
 public:
  Background() : timers_("engine-time"), pool_("background", 2, kQueueMax, base::WorkerPool::Priority::low) {
    timers_.start();
  }
  ~Background() { stop(); }

  // Runs `work` on a pool thread. The queue holds more than the turns and callers that can wait at once; if
  // it is full anyway, tries again a moment later. Returns false, and drops the work, after `stop`.
  bool run(std::function<void()> work) {
    if (pool_.try_submit(std::move(work))) return true;
    if (stopped_) return false;
    timers_.after(std::chrono::milliseconds(20),
                  [this, work = std::move(work)]() mutable { run(std::move(work)); });
    return true;
  }

  base::EventLoop& timers() { return timers_; }

  // Pending timers never fire; queued work still runs.
  void stop() {
    stopped_ = true;
    timers_.stop();
    pool_.stop();
  }

 private:
  static constexpr std::size_t kQueueMax = 100'000;
  std::atomic<bool> stopped_{false};
  base::EventLoop timers_;
  base::WorkerPool pool_;
};

}  // namespace baton::engine
