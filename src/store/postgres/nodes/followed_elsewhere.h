// FollowedElsewhere: the tasks that other nodes follow, as they have said. Each is kept for a while after it
// was said last: for kFollowed at least, and at most twice as long.
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

  // As `miss`.
  explicit FollowedElsewhere(Time now) { miss(now); }

  void add(const std::vector<Grown>& tasks, Time now);
  // Something that was said may not have been heard: until the others have said it again, in a moment, every
  // task counts as followed.
  void miss(Time now);
  // Those of the tasks that others follow.
  std::vector<Grown> of(const std::vector<Grown>& tasks, Time now);

 private:
  using Tasks = std::unordered_set<task::TaskKey>;
  struct State {
    Tasks now, before;  // said since `since`, and in the time before
    Time since{}, all_until{};
  };
  static void turn_over(State& state, Time now);

  base::Guarded<State> state_;
};

}  // namespace baton::store::postgres
