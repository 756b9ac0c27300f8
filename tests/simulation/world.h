// World: one simulation. A Baton of which there is one process at a time, the store that outlives it, its
// clients, agents and webhook receivers, and the nemesis that breaks all of it.
//
// `run` lets a number of steps pass with faults, then none: everything must end. What is drawn, in order of
// drawing, is the whole state: the same seed gives the same trace.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "fibers.h"
#include "marks.h"
#include "model.h"
#include "plan_agents.h"
#include "process.h"
#include "receivers.h"
#include "store/memory/memory_store.h"

namespace baton::simulation {

// What a seed switches on and how often it happens (of a thousand).
struct Features {
  Features(Random& random, bool with_plans);

  bool kills, power_cuts, drains, slow_disk, full_disk, flush_failures, kills_at_commit;
  bool hangs, ignores_cancel, speaks_late, asks, delegates, waits, breaks_off;
  bool repeats, cancels, follows, lists, webhooks, reopens, messages;
  bool plans;
  bool ages, erases;
  std::chrono::milliseconds kept;  // how long tasks are kept after their end
  int refused, internal, late, hook_failures;
  int clients, slots, concurrency, queue_max;
  Time pause;  // the longest a client waits between two calls
};

class World {
 public:
  // `with_plans`: the seed does not choose.
  World(std::uint64_t seed, std::int64_t steps, bool with_plans);
  ~World();

  // Throws a Violation.
  void run();

  bool calm() const { return calm_; }
  // The process that serves; null while there is none.
  Process* up();
  Process* last() { return process_; }
  void start();
  // The process is gone at once; with its power, so is what was not flushed. From one of its fibers: does not
  // return.
  void kill(bool power);
  // The process has ended by itself. From one of its fibers: does not return.
  void ended();

  bool disk_is_full = false;
  int clients_left = 0;

  Random random;
  Fibers fibers;
  class SimulatedClock final : public base::Clock {
   public:
    explicit SimulatedClock(const Fibers& all) : fibers_(all) {}
    base::Timestamp now() const override { return wall_time(fibers_.now()); }

   private:
    const Fibers& fibers_;
  } clock;
  const Features features;
  Model model;
  store::MemoryStore store;
  Receivers receivers;
  StepCalls step_calls;

 private:
  void note_kill() const;
  void harm();
  void erase_some();
  void close();
  bool is_over();
  bool all_tasks_end();
  void answer(const task::TaskHead& plan);
  void check_gone(task::TaskKey key);
  void check_store();

  const std::int64_t steps_;
  bool calm_ = false, closed_ = false;
  std::string left_;  // to be over
  int processes_ = 0, answers_ = 0;
  Process* process_ = nullptr;  // leaked when it is killed
};

World& world();

}  // namespace baton::simulation
