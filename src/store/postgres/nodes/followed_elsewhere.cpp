#include "store/postgres/nodes/followed_elsewhere.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace baton::store::postgres {
namespace {

constexpr std::chrono::seconds kSaidAgain(2);
// The most tasks of one period; more end it early.
constexpr std::size_t kTasksMax = 1'000'000;

}  // namespace

void FollowedElsewhere::turn_over(State& state, Time now) {
  if (now - state.since < kFollowed && state.now.size() < kTasksMax) return;
  const bool was_silent = now - state.since >= 2 * kFollowed;
  state.before = std::exchange(state.now, {});
  if (was_silent) state.before.clear();
  state.since = now;
}

void FollowedElsewhere::add(const std::vector<Grown>& tasks, Time now) {
  state_.with([&](State& state) {
    turn_over(state, now);
    for (const Grown& grown : tasks) state.now.insert(grown.task);
  });
}

void FollowedElsewhere::miss(Time now) {
  state_.with([now](State& state) { state.all_until = now + kSaidAgain; });
}

std::vector<Grown> FollowedElsewhere::of(const std::vector<Grown>& tasks, Time now) {
  return state_.with([&](State& state) {
    if (now < state.all_until) return tasks;
    turn_over(state, now);
    std::vector<Grown> followed;
    std::ranges::copy_if(tasks, std::back_inserter(followed), [&](const Grown& grown) {
      return state.now.contains(grown.task) || state.before.contains(grown.task);
    });
    return followed;
  });
}

}  // namespace baton::store::postgres
