// BulkJobs: one operator's action on each task that a filter finds, as a job that outlives a crash.
//
// The job's tasks are written down first, and their number compared with what the operator expects. Then they
// are acted on, kWindow at a time, so that callers' sends have their turn. An item's outcome is stored with
// its action, so none is acted on twice; items that were not acted on when the program stopped follow after
// its start. Of the nodes that share a store, the one that leads runs all jobs. Threads: any. `begin` blocks
// on the disk; `stop` ends jobs for this run, before the background stops.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/guarded.h"
#include "engine/erasure.h"
#include "engine/operator_actions.h"
#include "store/operator_store.h"

namespace baton::engine {

enum class BulkAction { cancel, retry, requeue, resend, skip, erase };

struct BulkRequest {
  BulkAction action = BulkAction::cancel;
  store::TaskFilter filter;
  std::string filter_text;    // as the operator gave it, for the record
  std::int64_t expected = 0;  // tasks
  std::string actor, reason;
};

class BulkJobs {
 public:
  static constexpr std::int64_t kTasksMax = 1'000'000;
  static constexpr int kJobsMax = 4;  // that run at once
  static constexpr int kWindow = 32;  // items of one job that are acted on at once

  // `peers`: null if the store is not shared.
  BulkJobs(store::OperatorStore& store, OperatorActions& actions, Inbox& inbox, Background& background,
           const store::Peers* peers)
      : store_(store), actions_(actions), inbox_(inbox), background_(background), peers_(peers) {}

  // What deletes tasks; without it no job does. Once, before `start`.
  void set_erasure(Erasure& erasure) { erasure_ = &erasure; }

  // Goes on with what an earlier run has left. A job whose tasks were not all written down is abandoned:
  // nobody was told of it.
  base::Result<void> start();
  // Goes on with what other nodes have begun or left, if this one leads. On one thread. Blocks.
  void look();
  void stop() { stopping_ = true; }

  // Returns the job's key once its tasks are written down. Fails with conflict, and the number found, if they
  // are not as many as expected; invalid_argument (no reason, nothing to do); too_large (over kTasksMax);
  // overloaded (kJobsMax run); unsupported (nothing deletes tasks).
  base::Result<task::BulkJobKey> begin(const BulkRequest& request);

 private:
  struct Job;
  using JobPtr = std::shared_ptr<Job>;

  base::Result<std::vector<task::TaskKey>> find(const store::TaskFilter& filter, std::int64_t most) const;
  base::Result<task::BulkJobKey> write_down(const BulkRequest& request,
                                            const std::vector<task::TaskKey>& tasks);
  base::Result<void> write(store::OperatorWrite write);
  bool is_runner() const { return peers_ == nullptr || peers_->leads(); }
  void take_up(const store::BulkJob& job);
  void run(task::BulkJobKey key, BulkAction action, std::string actor, std::string reason);
  void go_on(const JobPtr& job);
  void read_more(const JobPtr& job);
  void act(const JobPtr& job, task::TaskKey task);
  void acted(const JobPtr& job, task::TaskKey task, const base::Error* error);
  void finish(const JobPtr& job);

  store::OperatorStore& store_;
  OperatorActions& actions_;
  Inbox& inbox_;
  Background& background_;
  const store::Peers* const peers_;
  Erasure* erasure_ = nullptr;
  bool was_runner_ = false;                                      // when it last looked
  base::Guarded<std::unordered_set<task::BulkJobKey>> running_;  // here
  std::atomic<bool> stopping_{false};
  std::atomic<int> jobs_{0};  // that run or are written down
};

}  // namespace baton::engine
