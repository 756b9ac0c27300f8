// Inbox: the queue of the engine's thread. That thread decides each queued work on its task's row in memory
// and writes the decisions as one group. Then the group is flushed and the callers are called back. So no
// decision loses a race inside one process, and nothing is reported before it is durable (promise 1).
//
// Flushes: where they are quick and few callers wait, the engine's thread makes them itself, because waking
// another thread takes about as long. Otherwise a second thread flushes and calls back, and the next group is
// decided meanwhile; so the slower the disk, the larger the groups. A group that has decisions nobody outside
// waits for (see Decision::is_awaited), mostly beginnings of turns, is committed even while the disk is busy,
// so that agents can work meanwhile; one flush then serves several groups. If nobody outside waits for any of
// them, the flush is held back for a moment, because most turns answer at once; longer if the agents lately
// did.
//
// Delays: decisions that may wait (Decision::may_wait), pieces of streamed output, are gathered for a few
// milliseconds after each commit, because a group costs far more than a decision. Any other decision takes
// those before it along. The delay counts from the last commit, so a lone stream is not delayed.
//
// Rows of tasks decided on lately are cached. Other rows are read by loader threads, so the engine's thread
// never waits for a read; decisions on one task still run in the order of `post`. If other nodes share the
// store, a cached row may be out of date. The store detects this when the group is written, and the group's
// decisions are made again on rows that are read anew. A refusal becomes final only after its row was read
// anew, if the row may be out of date.
//
// Threads: every method from any. `decide` and `committed` run on the engine's thread, `done` on that one or
// the flushing thread, in the order of the decisions; none of them may block or wait for another decision.
// Failure: if the disk is full, the decisions of the group fail with unavailable. If a flush fails, the
// program ends, because readers have seen what may be lost. Shutdown: the destructor decides, writes and
// flushes what was posted, including what callbacks still post.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/busy_time.h"
#include "base/histogram.h"
#include "base/lru.h"
#include "base/threads.h"
#include "base/worker_pool.h"
#include "engine/decide/answer_times.h"
#include "engine/decide/caller_usage.h"
#include "engine/live/live_tasks.h"
#include "engine/shared/turn_stats.h"
#include "store/peers.h"
#include "store/retention_store.h"
#include "store/task_store.h"

namespace baton::engine {

// A stored change. Its events have been published.
struct Written {
  task::TaskHead head;
  task::EventNumber before;  // the last number before this change's events
};

// A decision about a task. Each kind of decision is a type in decide/kinds, which has the task and, as
// `decide`, the rule. The code that posts it handles the consequences.
struct Decision {
  using Decide = std::function<base::Result<task::Change>(const store::TaskRow& now)>;
  using Done = std::function<void(base::Result<Written>)>;

  Decision() = default;
  template <class Kind>
  explicit Decision(Kind kind)
      : task(kind.task),
        decide([kind = std::move(kind)](const store::TaskRow& now) mutable { return kind.decide(now); }) {}
  // The kind is shared with the callbacks, which read its results.
  template <class Kind>
  explicit Decision(std::shared_ptr<Kind> kind)
      : task(kind->task), decide([kind](const store::TaskRow& now) { return kind->decide(now); }) {}

  task::TaskKey task;  // unset: a new task; the row is empty
  // Returns the change for the task as it is now. May be called again, if another change kept the group from
  // being written or the row was out of date, so none of its effects may count before `committed`.
  Decide decide;
  // Called when the change is in the store. It may not be durable yet, so nothing of it may be shown.
  std::function<void(const store::Committed&)> committed;
  // Called when the change is durable, or was refused: by `decide`, by the store's rules (see
  // TaskStore::apply), or with task_not_found, overloaded (the inbox is full) or unavailable.
  Done done;
  bool is_awaited = true;  // somebody outside waits for it to be durable
  bool may_wait = false;   // it may be delayed (InboxOptions::delay), to join a larger group
  std::size_t bytes = 0;   // approximate size
};

struct InboxOptions {
  std::size_t waiting_max = 20'000;           // decisions
  std::size_t waiting_bytes_max = 256 << 20;  // of all that wait
  std::size_t group_max = 1'000;              // decisions in one group
  std::size_t group_bytes_max = 16 << 20;
  // A group of this size is committed at once. In smaller groups the fixed cost of a commit dominates; in
  // much larger ones all callers are in one group, and every thread waits for that one.
  std::size_t group_worth = 16;
  std::size_t unflushed_max = 8;        // groups that wait for a flush
  std::size_t rows_max = 4'000;         // kept; more than group_max
  std::chrono::microseconds hold{200};  // maximum delay of a flush that nobody waits for
  // The same if an agent of the group usually answers within this time.
  std::chrono::microseconds long_hold{1'000};
  // While flushes take less than this on average, the engine's thread makes them itself; 0: never. Not used
  // for a store that other nodes share.
  std::chrono::microseconds quick_flush{500};
  // A group of so many decisions comes from several callers, whose next decisions can be made during a flush:
  // the second thread flushes it, and what is committed for `crowd` after it.
  std::size_t group_crowded = 4;
  std::chrono::microseconds crowd{20'000};
  std::chrono::microseconds linger{100};  // minimum time between commits of small groups that may wait
  // Minimum time between the last commit and a group of decisions that may all wait; 0: they do not wait.
  std::chrono::microseconds delay{0};
  std::function<void(const base::Error&)> on_flush_failed = [](const base::Error&) {};
  TurnStats* stats = nullptr;     // counts every durable event; outlives the inbox; may be null
  store::Peers* peers = nullptr;  // gets every changed task; outlives the inbox; null if not shared
  int races_max = 32;             // races that a decision's groups may lose before it fails with overloaded
};

class Inbox {
 public:
  // `deliveries_written` is called after a flush of webhook deliveries; it must not block.
  Inbox(store::TaskStore& store, store::DeliveryStore& deliveries, LiveTasks& live, InboxOptions options,
        std::function<void()> deliveries_written);
  ~Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  // Sets the counter that admits callers' messages. Call before anything is posted. It must outlive the
  // inbox's work.
  void set_usage(CallerUsage* usage) { usage_ = usage; }

  void post(Decision decision);
  // Ends the delay of the decisions that have been posted.
  void hasten();
  // Stores the result of a webhook's delivery.
  void record(store::DeliveryResult result, std::function<void(base::Result<void>)> done);

  // Removes tasks. `also` writes in the same group, and gets the number of tasks removed. `done` gets the
  // removed tasks, once their removal is durable, and the time that the engine's thread spent on it.
  using Also = std::function<base::Result<void>(std::int64_t gone)>;
  using Gone = std::function<void(base::Result<std::vector<store::Removed>>, std::chrono::nanoseconds)>;
  void remove(store::RetentionStore& store, store::Removal removal, Also also, Gone done);
  // Calls RetentionStore::tidy as part of a group.
  using Tidied = std::function<void(base::Result<bool>, std::chrono::nanoseconds)>;
  void tidy(store::RetentionStore& store, std::int64_t spare_pages, Tidied done);
  // Writes something other than a change of a task. `apply` adds it to the store's open group, and may be
  // called again. `done` gets its error, if any.
  void write(std::function<base::Result<void>()> apply, std::function<void(base::Result<void>)> done);

  // Drops the cached rows, because other nodes may have changed them. Returns once no decision is made on a
  // row that was read before. Not from a callback.
  void forget_rows();

  // False after a write failed, until one succeeds. While false, a call starts a probe write, so that the
  // answer recovers even if nobody else writes. False also while a shared store does not answer. Never
  // blocks.
  bool store_is_writable();

  // Waits until everything that a read of the store can have seen is durable. Not from a callback.
  void settle_reads() const;
  // Waits until nothing is waiting, and no callback runs. Not from a callback.
  void settle();

  // Returns true if this is a `done` callback and so many of them are being called that answers should be
  // made on other threads, because the next flush waits for these callbacks.
  bool calls_many_back() const;

  // How long each flush has taken.
  const base::Histogram& flush_time() const { return flush_time_; }

 private:
  class Work;
  class Decided;
  class Stored;
  class Probed;
  class Removing;
  class Tidying;
  using WorkPtr = std::unique_ptr<Work>;
  struct Group {
    std::vector<WorkPtr> works;
    std::size_t bytes = 0;
    std::uint64_t number = 0;
    bool is_awaited = false;                    // somebody outside waits for it
    bool has_unawaited = false;                 // it has a decision that nobody outside waits for
    bool writes = false;                        // it has something to flush
    std::uint64_t place = 0;                    // among all groups
    base::SteadyTime::time_point at{};          // of its commit
    base::SteadyTime::time_point hold_until{};  // its flush may wait so long for an answer
  };
  using Groups = std::vector<Group>;

  void push(WorkPtr work, std::size_t bytes);
  void push_front(WorkPtr work);
  // The engine's thread.
  void run();
  bool gather(Group& group);
  void cache_loaded();
  void fill(Group& group, std::vector<task::TaskKey>& to_load);
  bool has_room(const Group& group) const;
  bool forgets(const Group& group) const;
  bool is_delayed(const Group& group) const;
  template <class IsDue>
  bool wait_for_works(std::unique_lock<base::Mutex>& lock, const IsDue& is_due);
  void write(Group& group);
  void expect_results(const Group& group, std::size_t next) const;
  void refuse_all(Group& group, const base::Error& error);
  void put_back(Group& group);
  void race(Group& group);
  void read_anew(Group& group, std::size_t place);
  // Returns true if another node may have changed the task's cached row.
  bool may_be_stale(task::TaskKey task) const;
  void note_written(task::TaskKey task);
  void pass_on(Group group);
  bool flushes_itself(const Group& group);
  void note_answers(Group& group);
  void hand_over(Group group);
  void call_committed(const std::vector<Work*>& works);
  void flush_held();
  // The loaders' threads.
  void load(task::TaskKey key);
  // The flushing thread.
  void run_flushes();
  bool next_to_flush(Groups& groups);
  // The thread that flushes.
  void flush(const Groups& groups);
  void call_back(Groups& groups, base::BusyTime& busy, std::size_t& calling);
  void announce(const store::Committed& committed);
  void note_grown(const store::Committed& committed);
  void notify_peers();
  void note_outcome(bool worked);

  store::TaskStore& store_;
  store::DeliveryStore& deliveries_;
  LiveTasks& live_;
  CallerUsage* usage_ = nullptr;
  const InboxOptions options_;
  const std::function<void()> deliveries_written_;
  base::Histogram flush_time_{base::kFlushBounds};
  base::BusyTime engine_busy_{"engine"}, flush_busy_{"engine-flush"};  // each its own thread's
  std::atomic<bool> writable_{true}, probing_{false};
  // Number of the last group that reads may see, and of the last that is durable.
  std::atomic<std::uint64_t> visible_{0}, flushed_{0};
  std::atomic<std::uint64_t> forgotten_{0};   // how often the rows were dropped
  std::atomic<std::uint64_t> heard_{0};       // groups whose `committed` were called
  std::atomic<std::int64_t> flush_mean_{-1};  // in nanoseconds; negative: not known
  // Works being called back by each of the two threads, which never call back at once.
  std::size_t engine_calling_ = 0, flush_calling_ = 0;
  // Changes to report to all other nodes, and changes to report to followers only; the thread that flushes.
  std::vector<store::Grown> grown_, own_grown_;
  std::atomic<std::int64_t> pending_{0};  // works that have not been called back

  // The engine's thread only.
  base::Lru<task::TaskKey, store::TaskRow> rows_;
  std::unordered_map<task::TaskKey, std::vector<WorkPtr>> loading_;  // works that wait for the row
  std::unordered_set<task::TaskKey> gone_;                           // removed by the open group
  std::unordered_set<task::TaskKey> written_;  // written by the open group; only if the store is shared
  bool is_open_ = false;                       // the store has an open group
  base::SteadyTime::time_point committed_at_ = base::SteadyTime::time_point::min();
  base::SteadyTime::time_point crowded_until_ = base::SteadyTime::time_point::min();
  std::uint64_t committed_groups_ = 0;
  Groups held_;  // committed, and to be flushed by this thread
  AnswerTimes answer_times_;

  struct Loaded {
    task::TaskKey key;
    base::Result<store::TaskRow> row;
  };
  base::Mutex mutex_;  // guards what follows
  base::Condition may_gather_, may_flush_;
  std::deque<WorkPtr> queue_;
  std::vector<Loaded> loaded_;
  std::uint64_t to_forget_ = 0;                  // how often the rows were to be dropped
  std::size_t waiting_ = 0, waiting_bytes_ = 0;  // in the queue
  std::size_t urgent_ = 0;                       // works in the queue that may not be delayed
  bool hastens_ = false;                         // those that may are to be decided now
  bool has_delayed_ = false;                     // some may come again soon
  bool sleeps_ = false;  // the engine's thread does not wake by itself for delayed works
  std::deque<Group> to_flush_;
  bool flushing_ = false;  // a flush is in progress
  bool holding_ = false;   // the flushing thread waits for another group
  int uncalled_ = 0;       // groups committed but not called back
  bool stopping_ = false;  // no more works
  bool done_ = false;      // no more groups

  base::WorkerPool loaders_;
  base::Thread engine_thread_, flush_thread_;
};

}  // namespace baton::engine
