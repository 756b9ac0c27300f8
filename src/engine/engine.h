// Engine: the parts that decide about tasks, put together in the order in which they need each other.
//
// Threads: `start` and `drain` from one thread; what it hands out is for any thread.
// Lifetime: the store, the catalogue, the clock and the options outlive it.
#pragma once

#include "engine/delegation.h"
#include "engine/recovery.h"
#include "engine/task_service.h"

namespace baton::engine {

class Engine {
 public:
  Engine(store::TaskStore& store, const agents::Catalogue& catalogue, const base::Clock& clock,
         EngineOptions options, std::function<void()> deliveries_written);
  ~Engine();

  // Takes up what an earlier run left. How many turns that were.
  base::Result<int> start();

  // No new turns; running ones get the grace; waiting callers are answered. Blocks. What has not ended goes
  // on after a restart.
  void drain();

  // Ends `drain` early: what still runs goes on after a restart. From any thread.
  void hurry() { turns_.hurry(); }

  // How many turns of one caller may wait; 0 is no bound. From any thread.
  void set_caller_queue_max(int turns) { turns_.scheduler().set_caller_max(turns); }

  // The catalogue was read again.
  void catalogue_changed() { turns_.take_limits(); }

  // As Ledger says.
  bool store_is_writable() { return ledger_.store_is_writable(); }
  // Runs `work`, which must not block, after this time; never, once the engine drains.
  void after(std::chrono::milliseconds time, std::function<void()> work) {
    background_.timers().after(time, std::move(work));
  }

  // Waits until no write is under way. Once nobody calls any more, after this nothing is called back.
  void settle() { ledger_.settle(); }

  TaskService& tasks() { return tasks_; }
  Feed& feed() { return feed_; }
  store::TaskStore& store() { return store_; }
  base::EventLoop& timers() { return background_.timers(); }
  const EngineOptions& options() const { return options_; }

  struct Counts {
    Scheduler::Counts turns;
    Feed::Counts feed;
    std::int64_t submitted = 0, completed = 0, failed = 0, canceled = 0, rejected = 0;
  };
  Counts counts() const;

 private:
  const EngineOptions options_;
  store::TaskStore& store_;
  Feed feed_;
  Ledger ledger_;
  Background background_;
  Turns turns_;
  TaskService tasks_;
  Delegation delegation_;
  Recovery recovery_;
  bool drained_ = false;
};

}  // namespace baton::engine
