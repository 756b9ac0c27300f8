// Background: where the engine reads the store and waits for time to pass, so that neither the committing
// thread nor the loops do.
#pragma once

#include "base/event_loop.h"
#include "base/worker_pool.h"

namespace baton::engine {

class Background {
 public:
  Background() : timers_("engine-time"), pool_("engine", 2, kQueueMax) { timers_.start(); }
  ~Background() { stop(); }

  // Runs `work` on a pool thread. The queue is longer than the turns and callers that can be waiting at once;
  // should it be full all the same, the work is tried again a moment later.
  void run(std::function<void()> work) {
    if (pool_.try_submit(std::move(work))) return;
    timers_.after(std::chrono::milliseconds(20),
                  [this, work = std::move(work)]() mutable { run(std::move(work)); });
  }

  base::EventLoop& timers() { return timers_; }

  // Timers that have not fired never will; work that is queued is run.
  void stop() {
    timers_.stop();
    pool_.stop();
  }

 private:
  static constexpr std::size_t kQueueMax = 100'000;
  base::EventLoop timers_;
  base::WorkerPool pool_;
};

}  // namespace baton::engine
