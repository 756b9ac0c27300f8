// LiveTasks: tasks that other nodes change.
#include <algorithm>
#include <utility>

#include "engine/live_tasks.h"

namespace baton::engine {

// Whether others are to be asked to tell of the task; as though they were.
bool LiveTasks::asks_for(Live& live) const {
  return sharing_ && !live.subscribers.empty() && !std::exchange(live.is_asked_for, true);
}

std::vector<LiveTasks::Looking> LiveTasks::changed_elsewhere(task::TaskKey task, task::EventNumber last) {
  LiveLogPtr dropped;
  std::vector<std::shared_ptr<News>> news;
  std::vector<Looking> looking;
  std::optional<store::Grown> follows;
  state_.with([&](State& state) {
    const auto entry = state.tasks.find(task);
    if (entry == state.tasks.end()) return;
    Live& live = entry->second;
    if (asks_for(live)) follows = {task, std::max(live.heard, last)};
    if (live.log && live.log->head.last_event < last) dropped = drop_log(state, task, live);
    if (live.heard < last) {
      live.heard = last;
      for (auto& [id, subscriber] : live.subscribers) {
        if (subscriber.news) news.push_back(subscriber.news);
        if (!subscriber.on_stop) continue;
        ++subscriber.looks;
        subscriber.known = std::max(subscriber.known, last);
        looking.push_back({{task, id, false}, subscriber.after});
      }
    }
    drop_if_idle(state, entry);
  });
  if (follows) sharing_->follow(*follows);
  for (const auto& wake : news) (*wake)();
  return looking;
}

void LiveTasks::forget_logs() {
  Dropped dropped;
  state_.with([&](State& state) {
    for (auto entry = state.tasks.begin(); entry != state.tasks.end();) {
      const auto at = entry++;
      dropped.push_back(drop_log(state, at->first, at->second));
      drop_if_idle(state, at);
    }
  });
}

std::vector<store::Grown> LiveTasks::followed() const {
  return state_.with([](const State& state) {
    std::vector<store::Grown> all;
    for (const auto& [task, live] : state.tasks) {
      if (!live.subscribers.empty()) all.push_back({task, live.heard});
    }
    return all;
  });
}

}  // namespace baton::engine
