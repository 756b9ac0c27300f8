// Inbox: the flushing thread.
#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "base/thread_priority.h"
#include "engine/inbox_work.h"

namespace baton::engine {

void Inbox::run_flushes() {
  pthread_setname_np(pthread_self(), "engine-flush");
  base::set_priority(base::ThreadPriority::prompt);
  prctl(PR_SET_TIMERSLACK, 1);  // a group is held back for less than the 50 us of the default
  for (std::vector<Group> groups; next_to_flush(groups); groups.clear()) {
    if (std::ranges::any_of(groups, [](const Group& group) { return group.writes; })) {
      const auto since = base::SteadyTime::now();
      if (const auto flushed = store_.flush(); !flushed) {
        options_.on_flush_failed(flushed.error());
        std::_Exit(EXIT_FAILURE);
      }
      flush_time_.observe(base::SteadyTime::now() - since);
    }
    {
      std::lock_guard lock(mutex_);
      flushing_ = false;
    }
    may_gather_.notify_one();
    told_ += groups.size();
    wait_for(heard_, told_);
    tell(groups);
  }
}

// False: there are no more groups.
bool Inbox::next_to_flush(std::vector<Group>& groups) {
  {
    std::unique_lock lock(mutex_);
    may_flush_.wait(lock, [this] { return done_ || !to_flush_.empty(); });
    if (to_flush_.empty()) return false;
    const auto somebody_hears = [this] {
      return done_ || std::ranges::any_of(to_flush_, [](const Group& group) { return group.answers; });
    };
    if (!somebody_hears()) {
      holding_ = true;
      may_gather_.notify_one();
      may_flush_.wait_until(lock, to_flush_.front().at + options_.hold, somebody_hears);
      holding_ = false;
    }
    std::ranges::move(to_flush_, std::back_inserter(groups));
    to_flush_.clear();
    flushing_ = true;
  }
  may_gather_.notify_one();
  return true;
}

// All is published before anybody is told: a reply that waits for a later group finds it there. So does
// whoever has waited in settle_reads, as live logs must not be behind what was read of the store.
void Inbox::tell(std::vector<Group>& groups) {
  const auto told = static_cast<int>(groups.size());
  telling_ = 0;
  for (const Group& group : groups) telling_ += group.works.size();
  {
    const base::Burst together;
    BusyLaps laps(flush_busy_);
    for (const Group& group : groups) {
      for (const WorkPtr& work : group.works) {
        work->publish(*this);
        laps.next();
      }
    }
    flushed_ = groups.back().number;
    flushed_.notify_all();
    tell_peers();
    laps.next();
    for (Group& group : groups) {
      for (WorkPtr& work : group.works) {
        work->tell();
        work.reset();
        laps.next();
        if (--pending_ == 0) pending_.notify_all();
      }
    }
  }
  {
    std::lock_guard lock(mutex_);
    untold_ -= told;
  }
  may_gather_.notify_one();
}

bool Inbox::tells_many() const {
  constexpr std::size_t kMany = 8;
  return base::this_thread_id() == flush_thread_.get_id() && telling_ > kMany;
}

void Inbox::note(const store::Committed& committed) {
  if (options_.peers != nullptr && !options_.peers->is_alone()) note_grown(committed);
  if (options_.stats != nullptr) options_.stats->note(committed.head.agent, committed.events);
  if (committed.deliveries > 0) deliveries_written_();
}

void Inbox::note_outcome(bool worked) {
  if (writable_.load(std::memory_order_relaxed) != worked) writable_ = worked;
}

}  // namespace baton::engine
