// Fibers: the threads of a simulation. All run on one thread of the machine, one at a time; the seed decides
// which one runs next. Time is virtual: it passes a little with every step, and jumps to the next deadline
// when no fiber can run.
//
// A fiber yields where a thread would block and, by chance, before it takes a lock. It never yields while it
// holds one, so no lock is ever contended. A fiber belongs to a process. Killing the process drops its fibers
// where they are, without unwinding: what they own is leaked, as a killed program destroys nothing.
//
// There is one Fibers at a time, which `fibers()` returns. Call everything from fibers or, where a comment
// says so, from outside.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "random.h"

namespace baton::simulation {

using Time = std::chrono::nanoseconds;  // since the simulation began

// The time on the engine's clock.
inline base::Timestamp wall_time(Time time) {
  return base::from_ms(1'800'000'000'000) + std::chrono::duration_cast<base::Duration>(time);
}

// A promise was broken, or the simulation cannot continue. Ends the run.
struct Violation {
  std::string what;
};

class Fibers {
 public:
  struct Fiber;
  // The fibers that wait for one thing, in order of arrival.
  struct WaitList {
    std::vector<Fiber*> waiting;
  };

  explicit Fibers(Random& random);
  ~Fibers();
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  // May be called from outside. `process`: the current fiber's by default.
  Fiber* spawn(std::function<void()> body, std::optional<int> process = {});
  void join(Fiber* fiber);
  Fiber* current() const { return current_; }
  int process() const;  // of the current fiber; 0 outside

  // Returns true if it was woken, and false if the deadline has passed. May return without a reason.
  bool wait(WaitList& list, std::optional<Time> until = {});
  void wake_one(WaitList& list);
  void wake_all(WaitList& list);
  void sleep_until(Time until);
  void sleep(Time time) { sleep_until(now_ + time); }
  void yield();

  // Drops the fibers of a process; does not return if called from one of them. May be called from outside.
  void kill(int process);

  // Until it is thawed, none of the process's fibers runs; time passes.
  void freeze(int process) { frozen_.insert(process); }
  void thaw(int process);
  bool is_frozen(int process) const { return frozen_.contains(process); }

  // Call from outside. Runs one fiber; returns false if none can ever run again. Throws the fiber's
  // Violation.
  bool step();

  // Ends the run with this violation. Call it from anywhere. The first violation counts.
  void fail(std::string what);
  bool failed() const { return failure_.has_value(); }

  Time now() const { return now_; }
  std::int64_t steps() const { return steps_; }
  std::uint64_t trace() const { return trace_; }
  // Mixes what has happened into the trace.
  void note(std::uint64_t what) { trace_ = mixed(trace_, what); }

  // Called before a lock is taken.
  void before_lock() {
    if (current_ != nullptr && held_ == 0 && --locks_to_yield_ <= 0) give_way();
    ++held_;
  }
  void after_lock() { --held_; }

  // While it lives, taking a lock never yields.
  class Quiet {
   public:
    ~Quiet() { --fibers_.held_; }
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;

   private:
    Fibers& fibers_;
    friend Fibers;
    explicit Quiet(Fibers& all) : fibers_(all) { ++fibers_.held_; }
  };
  Quiet quiet() { return Quiet(*this); }

 private:
  static void enter(unsigned high, unsigned low);
  void change(Fiber& from, Fiber& to);
  void changed(Fiber& fiber);
  void give_way();
  void leave();
  void make_runnable(Fiber* fiber);
  void wake_sleepers();
  void set_frozen_aside();
  void retire(Fiber* fiber);

  Random& random_;
  std::deque<std::unique_ptr<Fiber>> all_;
  std::vector<Fiber*> runnable_;
  std::vector<Fiber*> aside_;  // runnable fibers of frozen processes
  std::set<int> frozen_;
  std::map<std::pair<Time, std::uint64_t>, Fiber*> sleeping_;
  Fiber* current_ = nullptr;
  std::unique_ptr<Fiber> outside_;
  const void* outside_stack_ = nullptr;  // known under AddressSanitizer only
  std::size_t outside_stack_size_ = 0;
  Time now_{0};
  std::uint64_t last_id_ = 0, trace_ = 0, sleeps_ = 0;
  std::int64_t steps_ = 0;
  int held_ = 0, locks_to_yield_ = 0;
  int locks_between_yields_;  // drawn: some runs interleave finely, some hardly at all
  std::optional<std::string> failure_;
};

Fibers& fibers();

}  // namespace baton::simulation
