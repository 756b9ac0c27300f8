// LiveTasks: who waits for a task to stop.
#include <algorithm>
#include <utility>

#include "engine/live_tasks.h"

namespace baton::engine {

LiveTasks::Wait LiveTasks::await_stop(task::TaskKey task, task::EventNumber after,
                                      base::SteadyTime::time_point deadline, OnStop on_stop) {
  std::optional<Stop> stop;
  std::optional<store::Grown> follows;
  const Wait wait = state_.with([&](State& state) {
    const auto found = state.tasks.find(task);
    const LiveLog* log = found == state.tasks.end() ? nullptr : found->second.log.get();
    const bool knows_past = log != nullptr && log->covers(after);
    if (knows_past) stop = log->stop_after(after);
    if (stop || !state.takes_waits) return Wait{task, 0, true};
    Subscriber subscriber;
    subscriber.on_stop = std::move(on_stop);
    subscriber.after = after;
    subscriber.deadline = deadline;
    subscriber.looks = knows_past ? 0 : 1;
    if (knows_past) subscriber.known = log->head.last_event;
    return Wait{task, add(state, task, std::move(subscriber), follows), knows_past};
  });
  ask_for(follows);
  if (wait.id == 0) on_stop(stop);
  return wait;
}

void LiveTasks::tell_past(const Wait& wait, std::optional<Stop> first) {
  OnStop on_stop;
  state_.with([&](State& state) {
    const auto entry = state.tasks.find(wait.task);
    if (entry == state.tasks.end()) return;
    const auto found = entry->second.subscribers.find(wait.id);
    if (found == entry->second.subscribers.end()) return;
    const bool is_last = --found->second.looks == 0;
    if (!first && is_last) first = found->second.later;
    if (!first) return;
    on_stop = std::move(found->second.on_stop);
    drop(state, entry->second, found);
    drop_if_idle(state, entry);
  });
  if (on_stop) on_stop(first);
}

// Notes what the change has for a wait. Returns whether another node has added something before it: then the
// store has to be asked.
bool LiveTasks::note_stop(Subscriber& subscriber, const store::Committed& committed) const {
  const task::EventNumber last = committed.head.last_event;
  const auto before = last.value - static_cast<std::int64_t>(committed.events.size());
  const bool looks = sharing_ && subscriber.known.value < before;
  if (looks) ++subscriber.looks;
  subscriber.known = std::max(subscriber.known, last);
  if (!subscriber.later) subscriber.later = first_stop(committed.events, subscriber.after);
  return looks;
}

std::optional<base::SteadyTime::time_point> LiveTasks::expire_waits(base::SteadyTime::time_point now) {
  std::vector<OnStop> overdue;
  std::optional<base::SteadyTime::time_point> next;
  state_.with([&](State& state) {
    for (auto entry = state.tasks.begin(); entry != state.tasks.end(); drop_if_idle(state, entry++)) {
      Live& live = entry->second;
      for (auto one = live.subscribers.begin(); one != live.subscribers.end();) {
        const auto at = one++;
        if (!at->second.on_stop) continue;
        const auto deadline = at->second.deadline;
        if (deadline > now) {
          next = next ? std::min(*next, deadline) : deadline;
        } else {
          overdue.push_back(std::move(at->second.on_stop));
          drop(state, live, at);
        }
      }
    }
  });
  for (const OnStop& on_stop : overdue) on_stop(std::nullopt);
  return next;
}

void LiveTasks::end_waits() {
  state_.with([](State& state) { state.takes_waits = false; });
  expire_waits(base::SteadyTime::time_point::max());
}

}  // namespace baton::engine
