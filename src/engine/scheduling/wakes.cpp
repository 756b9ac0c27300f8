#include "engine/scheduling/wakes.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace baton::engine {
namespace {

constexpr base::Duration kLongest = std::chrono::minutes(1);

}  // namespace

void Wakes::at(base::Timestamp time, task::TaskKey task, task::TurnNumber turn, const std::string& account) {
  const bool is_next = state_.with([&](State& state) {
    if (has_later(state, task, turn)) return false;
    const Entry entry(time, task, turn);
    drop(state, task);
    state.of_task.emplace(task, std::pair(entry, account));
    ++state.of_account[account];
    state.in_order.insert(entry);
    return *state.in_order.begin() == entry;
  });
  if (is_next) timers_.post([this] { fire(); });
}

void Wakes::forget(task::TaskKey task, task::TurnNumber turn) {
  state_.with([&](State& state) {
    if (!has_later(state, task, turn)) drop(state, task);
  });
}

bool Wakes::has_later(const State& state, task::TaskKey task, task::TurnNumber turn) {
  const auto known = state.of_task.find(task);
  return known != state.of_task.end() && std::get<task::TurnNumber>(known->second.first) > turn;
}

void Wakes::drop(State& state, task::TaskKey task) {
  const auto known = state.of_task.find(task);
  if (known == state.of_task.end()) return;
  const auto& [entry, account] = known->second;
  state.in_order.erase(entry);
  const auto of_account = state.of_account.find(account);
  if (--of_account->second == 0) state.of_account.erase(of_account);
  state.of_task.erase(known);
}

bool Wakes::has_room(const std::string& account) const {
  const int most = caller_max_;
  return state_.with([&](const State& state) {
    if (std::ssize(state.of_task) >= room_) return false;
    const auto own = state.of_account.find(account);
    return most == 0 || own == state.of_account.end() || own->second < most;
  });
}

std::size_t Wakes::count() const {
  return state_.with([](const State& state) { return state.of_task.size(); });
}

// Wakes the tasks that are due, and sets the timer for the next one.
void Wakes::fire() {
  timers_.cancel(timer_);
  const base::Timestamp now = clock_.now();
  std::vector<Entry> due;
  const auto next = state_.with([&](State& state) -> std::optional<base::Timestamp> {
    while (!state.in_order.empty() && std::get<0>(*state.in_order.begin()) <= now) {
      due.push_back(*state.in_order.begin());
      drop(state, std::get<1>(due.back()));
    }
    if (state.in_order.empty()) return std::nullopt;
    return std::get<0>(*state.in_order.begin());
  });
  if (next) timer_ = timers_.after(std::min(kLongest, *next - now), [this] { fire(); });
  for (const auto& [time, task, turn] : due) wake_(task, turn);
}

}  // namespace baton::engine
