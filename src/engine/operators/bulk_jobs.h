// BulkJobs: an operator's action on each task that a filter finds, as a job that survives a crash.
//
// The job's tasks are recorded first. If the operator states how many they expect, the number is checked at
// once. If not, the tasks of a job of any size are recorded in the background, a page at a time, and the job
// waits until the number is confirmed. Then its tasks are acted on, kWindow at a time, so that callers' sends
// are not held up. An item's outcome is stored with its action, so no item is acted on twice. Items that were
// left when the program stopped follow after its next start. A job whose tasks were being recorded then is
// abandoned. On a shared store, the leading node runs all jobs, and abandons those that were being recorded
// by a node that is gone. Threads: any. `create` blocks on the disk. `stop` ends jobs for this run; call it
// before the background stops.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/guarded.h"
#include "engine/operators/erasure.h"
#include "engine/operators/operator_actions.h"
#include "store/operator_store.h"

namespace baton::engine {

enum class BulkAction { cancel, retry, requeue, resend, skip, erase };

struct BulkRequest {
  BulkAction action = BulkAction::cancel;
  store::TaskFilter filter;
  std::string filter_text;               // as the operator gave it, for the record
  std::optional<std::int64_t> expected;  // tasks; unset: counted, to be confirmed
  std::string actor, reason;
};

class BulkJobs {
 public:
  static constexpr std::int64_t kTasksMax = 1'000'000;
  static constexpr int kJobsMax = 4;       // that run or are counted at once
  static constexpr int kUnconfirmed = 16;  // jobs that may wait; then the oldest is abandoned
  static constexpr int kWindow = 32;       // items of one job that are acted on at once

  // `peers`: null if the store is not shared.
  BulkJobs(store::OperatorStore& store, OperatorActions& actions, Inbox& inbox, Background& background,
           const store::Peers* peers)
      : store_(store), actions_(actions), inbox_(inbox), background_(background), peers_(peers) {}

  // Sets the part that deletes tasks; without it no job can. Once, before `start`.
  void set_erasure(Erasure& erasure) { erasure_ = &erasure; }

  // Continues or abandons the jobs that an earlier run left. A job whose recording node may still live waits
  // for `look`.
  base::Result<void> start();
  // Continues or abandons jobs that other nodes have begun or left, if this one leads. On one thread. Blocks.
  void look();
  void stop() { stopping_ = true; }
  // How many jobs run or are counted.
  int at_work() const { return jobs_; }

  // Returns the job's key; with `expected`, once its tasks are recorded. A retry leaves out tasks that were
  // already retried, unless the filter asks for them. Fails with conflict, and the number found, if that is
  // not `expected`; invalid_argument (no actor or reason, `expected` below 1); too_large (over kTasksMax);
  // overloaded (kJobsMax run); unsupported (nothing deletes tasks).
  base::Result<task::BulkJobKey> create(const BulkRequest& request);
  // Acts on the tasks of a job that was counted. Fails with conflict if it waits for no confirmation, belongs
  // to another operator, or has another number of tasks; otherwise as `create` does. Blocks on the disk.
  base::Result<void> confirm(task::BulkJobKey key, std::int64_t expected, const std::string& actor);
  // Gives up a job that is being counted or waits for confirmation. Fails with conflict in any other state.
  base::Result<void> abandon(task::BulkJobKey key);

 private:
  struct RunningJob;  // a stored job whose tasks are acted on here
  using RunningJobPtr = std::shared_ptr<RunningJob>;
  // A job whose tasks are being recorded.
  struct Counting {
    task::BulkJobKey key;
    store::TaskQuery query;
    std::int64_t tasks = 0;
  };
  using CountingPtr = std::shared_ptr<Counting>;

  base::Result<task::BulkJobKey> count(const BulkRequest& request);
  void count_more(const CountingPtr& counting);
  base::Result<bool> count_page(Counting& counting);
  base::Result<void> make_room_for_unconfirmed();
  base::Result<void> take_place();
  base::Result<std::int64_t> stored_at_work() const;
  base::Result<task::BulkJobKey> write_job(const BulkRequest& request, std::int64_t tasks);
  base::Result<void> write_items(task::BulkJobKey job, const std::vector<task::TaskKey>& tasks);
  base::Result<std::vector<task::TaskKey>> find(const store::TaskFilter& filter, std::int64_t most) const;
  base::Result<task::BulkJobKey> write_down(const BulkRequest& request,
                                            const std::vector<task::TaskKey>& tasks);
  void drop(task::BulkJobKey key);
  base::Result<void> write(store::OperatorWrite write);
  bool is_runner() const { return peers_ == nullptr || peers_->leads(); }
  bool is_left(const store::BulkJob& job) const;
  base::Result<void> give_up(const store::BulkJob& job);
  void take_up(const store::BulkJob& job);
  void run(task::BulkJobKey key, BulkAction action, std::string actor, std::string reason);
  void advance(const RunningJobPtr& job);
  void read_more(const RunningJobPtr& job);
  void act(const RunningJobPtr& job, task::TaskKey task);
  void acted(const RunningJobPtr& job, task::TaskKey task, const base::Error* error);
  void finish(const RunningJobPtr& job);

  store::OperatorStore& store_;
  OperatorActions& actions_;
  Inbox& inbox_;
  Background& background_;
  const store::Peers* const peers_;
  Erasure* erasure_ = nullptr;
  bool was_runner_ = false;                                      // when it last looked
  base::Guarded<std::unordered_set<task::BulkJobKey>> running_;  // here
  std::atomic<bool> stopping_{false};
  std::atomic<int> jobs_{0};  // that run or are being recorded
};

}  // namespace baton::engine
