// FollowedElsewhere: the tasks that other nodes have asked to follow. Each one is kept for at least kFollowed
// after the last request, and at most for twice that time.
//
// Threads: every method from any.
#pragma once

#include <chrono>
#include <unordered_set>
#include <vector>

#include "base/clock.h"
#include "base/guarded.h"
#include "store/peers.h"

namespace baton::store::postgres {

class FollowedElsewhere {
 public:
  using Time = base::SteadyTime::time_point;

  // Begins as after `miss`.
  explicit FollowedElsewhere(Time now) { miss(now); }

  void add(const std::vector<Grown>& tasks, Time now);
  // Requests of other nodes may have been lost. For a moment, until they have repeated them, every task
  // counts as followed.
  void miss(Time now);
  // Returns those of the tasks that other nodes follow.
  std::vector<Grown> of(const std::vector<Grown>& tasks, Time now);

 private:
  using Tasks = std::unordered_set<task::TaskKey>;
  struct State {
    Tasks now, before;  // requested since `since`, and in the period before
    Time since{}, all_until{};
  };
  static void turn_over(State& state, Time now);

  base::Guarded<State> state_;
};

}  // namespace baton::store::postgres
