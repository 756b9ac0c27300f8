#include "engine/decide/inbox.h"

#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <memory>
#include <utility>

#include "base/thread_priority.h"
#include "engine/decide/inbox_work.h"
#include "engine/live/conversation_key.h"

namespace baton::engine {
namespace {

using base::ErrorCode;

// The loaders' queue holds more than can wait in the inbox.
constexpr std::size_t kLoadsMax = 1'000'000;
constexpr int kLoaders = 2;
constexpr int kFlushesInMean = 8;  // of their time

}  // namespace

Inbox::Inbox(store::TaskStore& store, store::DeliveryStore& deliveries, LiveTasks& live, InboxOptions options,
             std::function<void()> deliveries_written)
    : store_(store),
      deliveries_(deliveries),
      live_(live),
      options_(std::move(options)),
      deliveries_written_(std::move(deliveries_written)),
      rows_(options_.rows_max),
      answer_times_(options_.long_hold),
      loaders_("engine-load", kLoaders, kLoadsMax),
      engine_thread_([this] { run(); }),
      flush_thread_([this] { run_flushes(); }) {}

Inbox::~Inbox() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  may_gather_.notify_one();
  engine_thread_.join();
  flush_thread_.join();
}

void Inbox::post(Decision decision) {
  const std::size_t bytes = decision.bytes + sizeof(Decided);
  const bool may_wait = decision.may_wait && options_.delay.count() > 0;
  auto work = std::make_unique<Decided>(std::move(decision), live_);
  work->may_wait = may_wait;
  push(std::move(work), bytes);
}

void Inbox::hasten() {
  {
    std::lock_guard lock(mutex_);
    if (queue_.empty() || urgent_ > 0 || std::exchange(hastens_, true)) return;
  }
  may_gather_.notify_one();
}

void Inbox::record(store::DeliveryResult result, std::function<void(base::Result<void>)> done) {
  const std::size_t bytes = sizeof(Stored) + sizeof(result) + result.error.size();
  const store::DeliveryKey key = result.key;
  auto apply = [this, result = std::move(result)] { return deliveries_.record(result); };
  push(std::make_unique<Stored>(std::move(apply), std::move(done), key), bytes);
}

void Inbox::write(std::function<base::Result<void>()> apply, std::function<void(base::Result<void>)> done) {
  push(std::make_unique<Stored>(std::move(apply), std::move(done)), sizeof(Stored));
}

bool Inbox::store_is_writable() {
  if (options_.peers != nullptr && !options_.peers->is_in_touch()) return false;
  if (writable_) return true;
  if (!probing_.exchange(true)) push(std::make_unique<Probed>(probing_), sizeof(Probed));
  return false;
}

void Inbox::push(WorkPtr work, std::size_t bytes) {
  ++pending_;
  bool wakes = false;
  {
    std::lock_guard lock(mutex_);
    // A work of any size is accepted if nothing else waits.
    const bool full = waiting_ >= options_.waiting_max ||
                      (waiting_ > 0 && waiting_bytes_ + bytes > options_.waiting_bytes_max);
    if (full) {
      work->refuse({ErrorCode::overloaded, "the store is overloaded; try again later", {}});
      work->refused = true;
    } else {
      ++waiting_;
      waiting_bytes_ += work->bytes = bytes;
    }
    work->may_wait = work->may_wait && !work->refused && waiting_ < options_.group_max &&
                     waiting_bytes_ < options_.group_bytes_max / 2;
    if (!work->may_wait) ++urgent_;
    has_delayed_ |= work->may_wait;
    wakes = !work->may_wait || sleeps_;
    queue_.push_back(std::move(work));
  }
  if (wakes) may_gather_.notify_one();
}

void Inbox::settle_reads() const {
  wait_for(flushed_, visible_);
}

void Inbox::settle() {
  for (std::int64_t left = pending_; left > 0; left = pending_) base::wait_for_change(pending_, left);
}

void Inbox::run() {
  pthread_setname_np(pthread_self(), "engine");
  prctl(PR_SET_TIMERSLACK, 1);  // it waits for less than the 50 us of the default
  for (Group group; gather(group); group = {}) {
    write(group);
    if (!group.works.empty()) pass_on(std::move(group));
  }
  loaders_.stop();
  {
    std::lock_guard lock(mutex_);
    done_ = true;
  }
  may_flush_.notify_one();
}

// Adds works to a group. The first call waits for some. Later calls add more until the group is worth a
// commit or nothing else waits, and the disk is free or the group begins something. Returns false if the
// group is complete; if it is empty then, the inbox is stopping.
bool Inbox::gather(Group& group) {
  const std::size_t before = group.works.size();
  bool is_over = false;
  // All works taken may have to wait for their rows.
  do {
    std::vector<task::TaskKey> to_load;
    bool is_held_too_long = false;
    {
      std::unique_lock lock(mutex_);
      // A small group may grow for a moment while nobody waits for it: a commit costs as much as several
      // decisions.
      const auto until = committed_at_ + options_.linger;
      const auto is_complete = [&] {
        const bool disk_is_free = !flushing_ && (to_flush_.empty() || holding_);
        const bool may_run_ahead = group.has_unawaited && to_flush_.size() < options_.unflushed_max;
        if (before == 0 || !(disk_is_free || may_run_ahead)) return false;
        if (before >= options_.group_worth) return true;
        const bool may_end_now = group.is_awaited && disk_is_free;
        return queue_.empty() && (may_end_now || base::SteadyTime::now() >= until);
      };
      const auto is_due = [&] {
        // A callback may post more.
        is_over = stopping_ && queue_.empty() && (before > 0 || (uncalled_ == 0 && loading_.empty()));
        const bool has_rows = group.works.empty() && !loaded_.empty();
        const bool has_works = !queue_.empty() && !is_delayed(group);
        return has_works || has_rows || forgets(group) || is_complete() || is_over;
      };
      if (before > 0 && (group.has_unawaited || !group.is_awaited))
        may_gather_.wait_until(lock, until, is_due);
      if (before > 0) {
        may_gather_.wait(lock, is_due);
      } else {
        is_held_too_long = !wait_for_works(lock, is_due);
      }
      if (is_complete()) return false;
      if (!is_held_too_long) fill(group, to_load);
    }
    if (is_held_too_long) flush_held();
    for (const task::TaskKey key : to_load) {
      if (!loaders_.try_submit([this, key] { load(key); })) std::terminate();  // it holds all that can wait
    }
  } while (group.works.empty() && !is_over);
  return group.works.size() > before;
}

// Returns true if all works in the queue may wait a little longer. An open group takes them along.
bool Inbox::is_delayed(const Group& group) const {
  const bool may_wait = group.works.empty() && urgent_ == 0 && !hastens_ && !stopping_;
  return may_wait && base::SteadyTime::now() < committed_at_ + options_.delay;
}

// Waits until a group is due. Returns false if the held groups must be flushed first.
template <class IsDue>
bool Inbox::wait_for_works(std::unique_lock<base::Mutex>& lock, const IsDue& is_due) {
  while (true) {
    // While works come that may wait, the thread wakes by itself, so that none of them has to wake it.
    const auto delayed_until = committed_at_ + options_.delay;
    // Asked before `is_due`: if the delay ends between the two, the works are due.
    const bool is_early = has_delayed_ && base::SteadyTime::now() < delayed_until;
    if (is_due()) return true;
    if (!is_early) has_delayed_ = false;
    sleeps_ = !is_early;
    bool is_held_too_long = false;
    if (held_.empty() && !is_early) {
      may_gather_.wait(lock);
    } else {
      const bool is_held = !held_.empty() && (!is_early || held_.back().hold_until < delayed_until);
      const auto until = is_held ? held_.back().hold_until : delayed_until;
      const bool is_woken =
          may_gather_.wait_until(lock, until, [&] { return is_due() || has_delayed_ != is_early; });
      is_held_too_long = is_held && !is_woken;
    }
    sleeps_ = false;
    if (is_held_too_long) return false;
  }
}

// Caches the rows that were read, and puts the works that wait for them at the front of the queue.
void Inbox::cache_loaded() {
  // Half of the rows, and only while no group is open: a row that it has changed must not be dropped.
  const std::size_t most = std::min(loaded_.size(), options_.rows_max / 2);
  std::vector<Loaded> rest(std::make_move_iterator(loaded_.begin() + static_cast<std::ptrdiff_t>(most)),
                           std::make_move_iterator(loaded_.end()));
  loaded_.resize(most);
  for (Loaded& loaded : std::exchange(loaded_, std::move(rest))) {
    auto works = std::move(loading_.extract(loaded.key).mapped());
    if (loaded.row) rows_.put(loaded.key, std::move(*loaded.row));
    for (auto work = works.rbegin(); work != works.rend(); ++work) {
      if (!loaded.row && !(*work)->refused) (*work)->refuse(loaded.row.error());
      (*work)->refused |= !loaded.row;
      push_front(std::move(*work));
    }
  }
}

// A work that returns to the queue is not delayed again.
void Inbox::push_front(WorkPtr work) {
  work->may_wait = false;
  ++urgent_;
  queue_.push_front(std::move(work));
}

void Inbox::fill(Group& group, std::vector<task::TaskKey>& to_load) {
  hastens_ = false;
  if (group.works.empty()) cache_loaded();
  if (forgets(group)) {
    rows_.clear();
    forgotten_ = to_forget_;
    forgotten_.notify_all();
  }
  while (!queue_.empty() && has_room(group)) {
    WorkPtr work = std::move(queue_.front());
    queue_.pop_front();
    if (!work->may_wait) --urgent_;
    const task::TaskKey key = work->task();
    if (key && !work->refused && gone_.contains(key)) {
      work->refuse({ErrorCode::task_not_found, "task not found", {}});
      work->refused = true;
    }
    // A refused work needs no row, but is called back after those posted before it.
    const bool has_row = !key || work->refused || rows_.find(key) != nullptr;
    if (!has_row || (key && loading_.contains(key))) {
      std::vector<WorkPtr>& waiting = loading_[key];
      if (waiting.empty()) to_load.push_back(key);
      waiting.push_back(std::move(work));
      continue;
    }
    group.bytes += work->bytes;
    const bool is_awaited = work->refused || work->is_awaited();
    group.is_awaited |= is_awaited;
    group.has_unawaited |= !is_awaited;
    waiting_bytes_ -= work->bytes;
    waiting_ -= work->bytes > 0 ? 1 : 0;
    group.works.push_back(std::move(work));
  }
}

bool Inbox::has_room(const Group& group) const {
  return group.works.empty() || (group.works.size() < options_.group_max &&
                                 group.bytes + queue_.front()->bytes <= options_.group_bytes_max);
}

void Inbox::load(task::TaskKey key) {
  auto row = store_.row(key);
  {
    std::lock_guard lock(mutex_);
    loaded_.push_back({key, std::move(row)});
  }
  may_gather_.notify_one();
}

// Decides and commits the group, with works that arrive meanwhile. Leaves the group empty if it has to be
// decided again.
void Inbox::write(Group& group) {
  std::size_t next = 0;
  do {
    expect_results(group, next);
    BusyLaps laps(engine_busy_);
    for (; next < group.works.size(); ++next) {
      Work& work = *group.works[next];
      if (work.refused) continue;
      // An earlier work of the group waits for this task's row.
      if (!loading_.empty() && loading_.contains(work.task())) {
        read_anew(group, next--);
        continue;
      }
      const auto applied = work.apply(*this);
      laps.next();
      if (std::exchange(work.looks_again, false)) read_anew(group, next--);
      if (applied) continue;
      if (applied.error().code == ErrorCode::raced) return race(group);
      if (applied.error().code == ErrorCode::unavailable) {
        note_outcome(false);
        return refuse_all(group, applied.error());
      }
      work.undo(*this);
      work.refuse(applied.error());
      work.refused = true;
      return put_back(group);
    }
  } while (gather(group));
  group.is_awaited |=
      std::ranges::any_of(group.works, [](const WorkPtr& work) { return work->is_awaited(); });
  group.writes = std::exchange(is_open_, false);
  if (!group.writes) return;
  ++visible_;
  const auto committed = store_.commit();
  gone_.clear();
  written_.clear();
  committed_at_ = base::SteadyTime::now();
  if (!committed && committed.error().code == ErrorCode::raced) return race(group);
  note_outcome(committed.has_value());
  if (!committed) refuse_all(group, committed.error());
}

// Tells the store which deliveries' results the group has from `next` on.
void Inbox::expect_results(const Group& group, std::size_t next) const {
  std::vector<store::DeliveryKey> keys;
  for (; next < group.works.size(); ++next) {
    const Work& work = *group.works[next];
    if (work.delivery() && !work.refused) keys.push_back(work.delivery());
  }
  if (keys.size() > 1) deliveries_.expect(keys);
}

// Refuses all works of the group, because nothing could be written.
void Inbox::refuse_all(Group& group, const base::Error& error) {
  is_open_ = false;
  gone_.clear();
  written_.clear();
  group.is_awaited = true;
  for (const WorkPtr& work : group.works) {
    if (work->refused) continue;
    work->undo(*this);
    work->refuse(error);
    work->refused = true;
  }
}

// Puts the works back at the front of the queue to be decided again, because one change could not be written
// for a reason other than the disk. Works that were refused keep their results.
void Inbox::put_back(Group& group) {
  is_open_ = false;
  gone_.clear();
  written_.clear();
  std::lock_guard lock(mutex_);
  for (auto work = group.works.rbegin(); work != group.works.rend(); ++work) {
    if (!(*work)->refused) (*work)->undo(*this);
    waiting_bytes_ += (*work)->bytes;
    waiting_ += (*work)->bytes > 0 ? 1 : 0;
    push_front(std::move(*work));
  }
  group.works.clear();
}

// Has a committed group flushed and called back, here or by the flushing thread.
void Inbox::pass_on(Group group) {
  group.number = visible_;
  group.place = ++committed_groups_;
  group.at = base::SteadyTime::now();
  note_answers(group);
  std::vector<Work*> works;
  works.reserve(group.works.size());
  for (const WorkPtr& work : group.works) works.push_back(work.get());
  if (held_.empty() && !flushes_itself(group)) {
    hand_over(std::move(group));
    return call_committed(works);
  }
  if (!held_.empty()) group.hold_until = std::min(group.hold_until, held_.back().hold_until);
  const bool waits = !group.is_awaited && held_.size() + 1 < options_.unflushed_max;
  held_.push_back(std::move(group));
  {
    std::lock_guard lock(mutex_);
    ++uncalled_;
  }
  call_committed(works);
  if (!waits || base::SteadyTime::now() >= held_.back().hold_until) flush_held();
}

// The flushing thread keeps the groups until it has called back all that it was given.
bool Inbox::flushes_itself(const Group& group) {
  if (group.works.size() >= options_.group_crowded) crowded_until_ = group.at + options_.crowd;
  if (group.at < crowded_until_) return false;
  const std::chrono::nanoseconds mean(flush_mean_.load(std::memory_order_relaxed));
  if (options_.peers != nullptr || mean.count() < 0 || mean >= options_.quick_flush) return false;
  std::lock_guard lock(mutex_);
  return uncalled_ == 0;
}

// Decides how long the group's flush may wait for the answers of the turns that it begins.
void Inbox::note_answers(Group& group) {
  bool is_prompt = false;
  for (const WorkPtr& work : group.works) {
    const task::TaskHead* const head = work->changed();
    if (head == nullptr) continue;
    if (work->is_awaited()) {
      answer_times_.answered(head->key, group.at);
    } else {
      answer_times_.begun(head->key, head->agent, group.at);
      is_prompt = is_prompt || answer_times_.is_prompt(head->agent);
    }
  }
  group.hold_until = group.at + (is_prompt ? std::max(options_.hold, options_.long_hold) : options_.hold);
}

void Inbox::hand_over(Group group) {
  {
    std::unique_lock lock(mutex_);
    may_gather_.wait(lock, [this] { return to_flush_.size() < options_.unflushed_max || holding_; });
    to_flush_.push_back(std::move(group));
    ++uncalled_;
  }
  may_flush_.notify_one();
}

void Inbox::flush_held() {
  Groups groups = std::exchange(held_, {});
  flush(groups);
  call_back(groups, engine_busy_, engine_calling_);
}

// Calls `committed` of each work. The flushing thread owns the works already, but calls them back only after
// this.
void Inbox::call_committed(const std::vector<Work*>& works) {
  {
    const base::Burst together;
    BusyLaps laps(engine_busy_);
    for (Work* work : works) {
      if (work->refused) continue;
      work->committed();
      laps.next();
    }
  }
  ++heard_;
  heard_.notify_one();
}

// ---- Flushes

void Inbox::run_flushes() {
  pthread_setname_np(pthread_self(), "engine-flush");
  base::set_priority(base::ThreadPriority::prompt);
  prctl(PR_SET_TIMERSLACK, 1);  // a group is held back for less than the 50 us of the default
  for (Groups groups; next_to_flush(groups); groups.clear()) {
    flush(groups);
    {
      std::lock_guard lock(mutex_);
      flushing_ = false;
    }
    may_gather_.notify_one();
    wait_for(heard_, groups.back().place);
    call_back(groups, flush_busy_, flush_calling_);
  }
}

void Inbox::flush(const Groups& groups) {
  if (std::ranges::none_of(groups, [](const Group& group) { return group.writes; })) return;
  const auto since = base::SteadyTime::now();
  if (const auto flushed = store_.flush(); !flushed) {
    options_.on_flush_failed(flushed.error());
    std::_Exit(EXIT_FAILURE);
  }
  const std::chrono::nanoseconds took = base::SteadyTime::now() - since;
  flush_time_.observe(took);
  // One slow flush among quick ones does not change much.
  const std::int64_t most = 4 * std::chrono::nanoseconds(options_.quick_flush).count();
  const std::int64_t mean = flush_mean_, now = std::min<std::int64_t>(took.count(), most);
  flush_mean_ = mean < 0 ? now : mean + (now - mean) / kFlushesInMean;
}

// Returns false if there are no more groups.
bool Inbox::next_to_flush(Groups& groups) {
  {
    std::unique_lock lock(mutex_);
    may_flush_.wait(lock, [this] { return done_ || !to_flush_.empty(); });
    if (to_flush_.empty()) return false;
    const auto somebody_hears = [this] {
      return done_ || std::ranges::any_of(to_flush_, [](const Group& group) { return group.is_awaited; });
    };
    if (!somebody_hears()) {
      holding_ = true;
      may_gather_.notify_one();
      may_flush_.wait_until(lock, to_flush_.front().hold_until, somebody_hears);
      holding_ = false;
    }
    std::ranges::move(to_flush_, std::back_inserter(groups));
    to_flush_.clear();
    flushing_ = true;
  }
  may_gather_.notify_one();
  return true;
}

// All groups are published before any work is called back, so that a reply that waits for a later group finds
// it. They are also published before settle_reads returns, because live logs must not be older than a read of
// the store.
void Inbox::call_back(Groups& groups, base::BusyTime& busy, std::size_t& calling) {
  const auto count = static_cast<int>(groups.size());
  for (const Group& group : groups) calling += group.works.size();
  {
    const base::Burst together;
    BusyLaps laps(busy);
    for (const Group& group : groups) {
      for (const WorkPtr& work : group.works) {
        work->publish(*this);
        laps.next();
      }
    }
    flushed_ = groups.back().number;
    flushed_.notify_all();
    notify_peers();
    laps.next();
    for (Group& group : groups) {
      for (WorkPtr& work : group.works) {
        work->call_back();
        work.reset();
        laps.next();
        if (--pending_ == 0) pending_.notify_all();
      }
    }
  }
  calling = 0;
  {
    std::lock_guard lock(mutex_);
    uncalled_ -= count;
  }
  may_gather_.notify_one();
}

bool Inbox::calls_many_back() const {
  constexpr std::size_t kMany = 8;
  const auto self = base::this_thread_id();
  return (self == flush_thread_.get_id() && flush_calling_ > kMany) ||
         (self == engine_thread_.get_id() && engine_calling_ > kMany);
}

void Inbox::announce(const store::Committed& committed) {
  if (options_.peers != nullptr && !options_.peers->is_alone()) note_grown(committed);
  if (options_.stats != nullptr) options_.stats->note(committed.head.agent, committed.events);
  if (committed.deliveries > 0) deliveries_written_();
}

void Inbox::note_outcome(bool worked) {
  if (writable_.load(std::memory_order_relaxed) != worked) writable_ = worked;
}

// ---- Other nodes

void Inbox::forget_rows() {
  std::uint64_t times = 0;
  {
    std::lock_guard lock(mutex_);
    times = ++to_forget_;
  }
  may_gather_.notify_one();
  wait_for(forgotten_, times);
}

// Returns true if the cached rows must be dropped now: only while no group is open, because it may have
// changed some of them, and no row is being read.
bool Inbox::forgets(const Group& group) const {
  return to_forget_ > forgotten_ && group.works.empty() && loading_.empty();
}

bool Inbox::may_be_stale(task::TaskKey task) const {
  const bool is_shared = options_.peers != nullptr && !options_.peers->is_alone();
  // A row that the open group has written cannot be stale, or the group could not be committed.
  return task && is_shared && !written_.contains(task);
}

void Inbox::note_written(task::TaskKey task) {
  if (task && options_.peers != nullptr) written_.insert(task);
}

// Takes a work out of the group until its row has been read anew.
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

// Another node changed a task before this group was written: all works are decided again, on rows that are
// read anew.
void Inbox::race(Group& group) {
  for (const WorkPtr& work : group.works) {
    if (work->refused || ++work->races <= options_.races_max) continue;
    work->undo(*this);
    work->refuse(
        {base::ErrorCode::overloaded, "too many requests change this task at once; try again later", {}});
    work->refused = true;
  }
  put_back(group);
}

// Records the change for the other nodes. Skips a task's first change, because nobody can follow a task
// before it is created; but its conversation may be followed.
void Inbox::note_grown(const store::Committed& committed) {
  const task::EventNumber last = committed.head.last_event;
  if (is_news_of_conversation(committed)) own_grown_.push_back({conversation_key(committed.head), last});
  if (last.value == static_cast<std::int64_t>(committed.events.size())) return;
  const bool is_own = committed.owner_before == options_.peers->self();
  (is_own ? own_grown_ : grown_).push_back({committed.head.key, last});
}

void Inbox::notify_peers() {
  if (!grown_.empty()) options_.peers->notify(grown_);
  if (!own_grown_.empty()) options_.peers->notify_followers(own_grown_);
  grown_.clear();
  own_grown_.clear();
}

// ---- Removals

void Inbox::remove(store::RetentionStore& store, store::Removal removal, Also also, Gone done) {
  const std::size_t bytes = sizeof(Removing) + removal.tasks.size() * sizeof(store::Removal::One);
  push(std::make_unique<Removing>(store, std::move(removal), std::move(also), std::move(done)), bytes);
}

void Inbox::tidy(store::RetentionStore& store, std::int64_t spare_pages, Tidied done) {
  push(std::make_unique<Tidying>(store, spare_pages, std::move(done)), sizeof(Tidying));
}

}  // namespace baton::engine
