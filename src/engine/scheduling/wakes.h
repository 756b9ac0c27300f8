// Wakes: resumes the turns of tasks that wait for a time.
//
// Times are wall-clock times; when the clock is set, that is noticed within a minute. Threads: any. `wake` is
// called on the timers' thread and must not block.
#pragma once

#include <atomic>
#include <functional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/guarded.h"
#include "task/ids.h"

namespace baton::engine {

class Wakes {
 public:
  using Wake = std::function<void(task::TaskKey, task::TurnNumber)>;

  // `timers` must be stopped before this object is destroyed. `room`: see has_room.
  Wakes(base::EventLoop& timers, const base::Clock& clock, int room, Wake wake)
      : timers_(timers), clock_(clock), room_(room), wake_(std::move(wake)) {}

  // Wakes the task at this time, at once if it is past. Replaces the time of the same or an earlier turn, but
  // not that of a later one: a node that takes tasks over reports turns that may have ended meanwhile. Does
  // not check has_room. `account`: as task::account_of says.
  void at(base::Timestamp time, task::TaskKey task, task::TurnNumber turn, const std::string& account);
  // Forgets the time of this turn or of an earlier one.
  void forget(task::TaskKey task, task::TurnNumber turn);

  // Whether one more task may wait: neither all callers nor this one have as many waiting tasks as they may.
  bool has_room(const std::string& account) const;
  // The maximum number of waiting tasks of one caller; 0: unbounded.
  void set_caller_max(int tasks) { caller_max_ = tasks; }
  std::size_t count() const;

 private:
  using Entry = std::tuple<base::Timestamp, task::TaskKey, task::TurnNumber>;
  struct State {
    std::set<Entry> in_order;
    std::unordered_map<task::TaskKey, std::pair<Entry, std::string>> of_task;
    std::unordered_map<std::string, int> of_account;
  };

  static void drop(State& state, task::TaskKey task);
  // Whether a turn after this one waits.
  static bool has_later(const State& state, task::TaskKey task, task::TurnNumber turn);
  void fire();

  base::EventLoop& timers_;
  const base::Clock& clock_;
  const int room_;
  const Wake wake_;
  std::atomic<int> caller_max_{0};
  base::Guarded<State> state_;
  base::EventLoop::TimerId timer_ = 0;  // the timers' thread only
};

}  // namespace baton::engine
