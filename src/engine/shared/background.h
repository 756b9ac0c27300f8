// Background: the engine's timers, and its thread pools for work that may block.
//
// A read of a task that is not in memory may wait for the disk, or for a flush, so the engine's thread and
// the event loops leave it to a pool. Large jobs that no caller waits for at once, such as the search for old
// tasks, run on low-priority threads of their own: otherwise small turns behind them would hold slots that
// others need. Turns of plans, which also compute, have a third pool. It is fair between callers, so that
// callers with small plans do not wait for those with large ones.
//
// Threads: any, but `stop` from one.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "base/event_loop.h"
#include "base/fair_pool.h"
#include "base/worker_pool.h"

namespace baton::engine {

class Background {
 public:
  // `pause`: how long to wait before retrying an operation that the store has refused.
  explicit Background(std::chrono::milliseconds pause = std::chrono::milliseconds(250))
      : pause_(pause), timers_("engine-time") {
    timers_.start();
  }
  ~Background() { stop(); }

  // Runs `work` on a pool thread. The queue holds more than the turns and callers that can wait at once; if
  // it is full anyway, tries again a moment later. Returns false, and drops the work, after `stop`.
  bool run(std::function<void()> work) {
    return submit([this](auto& queued) { return pool_.try_submit(std::move(queued)); }, std::move(work));
  }
  // Like `run`, on the low-priority threads.
  bool run_low(std::function<void()> work) {
    return submit([this](auto& queued) { return low_.try_submit(std::move(queued)); }, std::move(work));
  }
  // Like `run`, for a turn of a caller's plan: on the pool that is fair between callers.
  bool run_plan(const std::string& caller, std::function<void()> work) {
    return submit([this, caller](auto& queued) { return plans_.try_submit(caller, std::move(queued)); },
                  std::move(work));
  }

  // Retries an operation that the store has refused: calls `work`, which must not block, on the timers'
  // thread after the pause; never after `stop`.
  void again(std::function<void()> work) { timers_.after(pause_, std::move(work)); }

  base::EventLoop& timers() { return timers_; }

  // Pending timers never fire; queued work still runs.
  void stop() {
    stopped_ = true;
    timers_.stop();
    low_.stop();
    plans_.stop();
    pool_.stop();
  }

 private:
  template <class TrySubmit>
  bool submit(TrySubmit try_submit, std::function<void()> work) {
    if (try_submit(work)) return true;
    if (stopped_) return false;
    timers_.after(std::chrono::milliseconds(20), [this, try_submit, work = std::move(work)]() mutable {
      submit(try_submit, std::move(work));
    });
    return true;
  }

  static constexpr std::size_t kQueueMax = 100'000;
  const std::chrono::milliseconds pause_;
  std::atomic<bool> stopped_{false};
  base::EventLoop timers_;
  base::WorkerPool pool_{"background", 2, kQueueMax, base::ThreadPriority::prompt};
  base::WorkerPool low_{"background-low", 2, kQueueMax, base::ThreadPriority::low};
  base::FairPool plans_{"plans", 4, kQueueMax, base::ThreadPriority::low};
};

}  // namespace baton::engine
