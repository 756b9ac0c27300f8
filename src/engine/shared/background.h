// Background: the pools for the engine's blocking store reads, and its timers. Keeps both off the engine's
// thread and the event loops: a read of a task that is not in memory may wait for the disk, or for a flush.
// What reads much and nobody waits for at once has threads of its own, of low priority: what looks for old
// tasks, and turns of plans, which compute as well. Small turns that stood behind it would hold slots that
// others wait for, and callers with small plans would wait for those with large ones: plans have a pool that
// is fair between callers.
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
  // `pause`: before anything that the store has refused is tried again.
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
  // The same on the threads of low priority.
  bool run_low(std::function<void()> work) {
    return submit([this](auto& queued) { return low_.try_submit(std::move(queued)); }, std::move(work));
  }
  // The same for the turn of a caller's plan.
  bool run_plan(const std::string& caller, std::function<void()> work) {
    return submit([this, caller](auto& queued) { return plans_.try_submit(caller, std::move(queued)); },
                  std::move(work));
  }

  // Tries again what the store has refused: calls `work`, which must not block, on the timers' thread after
  // the pause; never after `stop`.
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
