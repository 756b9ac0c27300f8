// Inbox: what it does about other nodes that share the store.
#include <exception>
#include <utility>

#include "engine/inbox_work.h"

namespace baton::engine {

void Inbox::forget_rows() {
  std::uint64_t times = 0;
  {
    std::lock_guard lock(mutex_);
    times = ++to_forget_;
  }
  may_gather_.notify_one();
  wait_for(forgotten_, times);
}

// Only while no group is open, which may have changed some, and nothing is being read.
bool Inbox::forgets(const Group& group) const {
  return to_forget_ > forgotten_ && group.works.empty() && loading_.empty();
}

bool Inbox::may_be_stale(task::TaskKey task) const {
  const bool is_shared = options_.peers != nullptr && !options_.peers->is_alone();
  // What the open group has written is the store's if the group is.
  return task && is_shared && !written_.contains(task);
}

void Inbox::note_written(task::TaskKey task) {
  if (task && options_.peers != nullptr) written_.insert(task);
}

// Takes a work out of the group until its row has been read.
void Inbox::read_anew(Group& group, std::size_t place) {
  WorkPtr work = std::move(group.works[place]);
  group.works.erase(group.works.begin() + static_cast<std::ptrdiff_t>(place));
  const task::TaskKey key = work->task();
  rows_.erase(key);
  {
    std::lock_guard lock(mutex_);
    waiting_bytes_ += work->bytes;
    waiting_ += work->bytes > 0 ? 1 : 0;
  }
  std::vector<WorkPtr>& waiting = loading_[key];
  waiting.push_back(std::move(work));
  if (waiting.size() > 1) return;
  if (!loaders_.try_submit([this, key] { load(key); })) std::terminate();  // it holds all that can wait
}

// Another node has changed a task before this group could: all is decided again, on rows that are read anew.
void Inbox::race(Group& group) {
  for (const WorkPtr& work : group.works) {
    if (work->refused || ++work->races <= options_.races_max) continue;
    work->undo(*this);
    work->refuse({base::ErrorCode::overloaded, "too many want to change this at once, try again later", {}});
    work->refused = true;
  }
  put_back(group);
}

// Nobody can follow a task before it is created.
void Inbox::note_grown(const store::Committed& committed) {
  const task::EventNumber last = committed.head.last_event;
  if (last.value == static_cast<std::int64_t>(committed.events.size())) return;
  const bool is_own = committed.owner_before == options_.peers->self();
  (is_own ? own_grown_ : grown_).push_back({committed.head.key, last});
}

void Inbox::tell_peers() {
  if (!grown_.empty()) options_.peers->tell(grown_);
  if (!own_grown_.empty()) options_.peers->tell_followers(own_grown_);
  grown_.clear();
  own_grown_.clear();
}

}  // namespace baton::engine
