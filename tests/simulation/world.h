// World: one simulation. It has a Baton, which is one process at a time or several that are nodes of one
// store; the store, which outlives them; clients, agents and webhook receivers; and the nemesis that breaks
// all of it.
//
// `run` lets a number of steps pass with faults, then continues without faults until everything has ended.
// The numbers drawn, in order, are the whole state: the same seed gives the same trace.
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
#include "shared_store.h"
#include "store/memory/memory_store.h"

namespace baton::simulation {

// The faults and behaviors that a seed switches on, and how often each happens (of a thousand).
struct Features {
  Features(Random& random, bool with_plans, int nodes);

  bool kills, power_cuts, drains, slow_disk, full_disk, flush_failures, kills_at_commit;
  bool hangs, ignores_cancel, speaks_late, asks, delegates, waits, breaks_off;
  bool repeats, cancels, follows, lists, webhooks, reopens, messages;
  bool plans;
  bool ages, erases;
  std::chrono::milliseconds kept;  // how long tasks are kept after their end
  int refused, internal, late, hook_failures;
  int clients, slots, concurrency, queue_max;
  // Only used if several nodes share the store.
  int nodes;
  bool freezes, outages, jumps, cuts, differ;
  int races, slow_reads, bus_drops, bus_delays, bus_doubles;
  Time pause;  // the longest a client waits between two calls
};

class World {
 public:
  // `with_plans`: has plans, whatever the seed draws.
  World(std::uint64_t seed, std::int64_t steps, bool with_plans, int nodes);
  ~World();

  // Throws a Violation if a promise is broken.
  void run();

  bool calm() const { return calm_; }
  // Returns a process that serves, or null if there is none.
  Process* up();
  // The process whose fiber runs, or null.
  Process* here() const;
  bool has_process(int id) const;
  // True if nothing that the process does counts any more: it has ended, or the others have declared it dead.
  bool is_dead(int process) const;
  void start(int place);
  // Kills the process at once; `power`: what was not flushed is lost, too. Does not return if called from one
  // of its fibers.
  void kill(Process* process, bool power);
  // The process has ended by itself. Does not return if called from one of its fibers.
  void ended(Process* process);

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
  const bool has_deaf_nodes;  // every other node; not drawn, so that seeds keep their meaning
  Model model;
  store::MemoryStore store;
  SharedStore shared;
  Receivers receivers;
  StepCalls step_calls;

 private:
  Process*& at(int place) { return processes_[static_cast<std::size_t>(place)]; }
  void note_kill(const Process& process) const;
  void harm();
  void harm_nodes(Process* process);
  void freeze(Process& process);
  void requeue_some();
  void erase_some();
  void close();
  bool is_over();
  bool is_idle(Process& process);
  bool all_tasks_end();
  void answer(const task::TaskHead& plan);
  void check_gone(task::TaskKey key);
  void check_store();

  const std::int64_t steps_;
  bool calm_ = false, closed_ = false;
  std::string left_;  // why it is not over yet
  int started_ = 0, answers_ = 0;
  std::vector<Process*> processes_;  // by place; leaked when killed
};

World& world();

}  // namespace baton::simulation
