// BulkJobs: one operator's action on each task that a filter finds, as a job that outlives a crash.
//
// The job's tasks are written down first, and their number compared with what the operator expects. Then they
// are acted on, a few at a time, so that callers' sends have their turn. An item's outcome is stored with its
// action, so none is acted on twice; items that were not acted on when the program stopped follow after its
// start. Threads: any. `begin` blocks on the disk while it counts.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "engine/operator_actions.h"
#include "store/operator_store.h"

namespace baton::engine {

enum class BulkAction { cancel, retry, requeue, resend };

struct BulkRequest {
  BulkAction action = BulkAction::cancel;
  store::TaskFilter filter;
  std::string filter_text;    // as the operator gave it, for the record
  std::int64_t expected = 0;  // tasks
  Actor actor;
};

class BulkJobs {
 public:
  inline static constexpr std::int64_t kTasksMax = 1'000'000;

  BulkJobs(store::OperatorStore& store, OperatorActions& actions, Inbox& inbox, Background& background,
           const base::Clock& clock);
  ~BulkJobs();

  // Goes on with what an earlier run has left.
  base::Result<void> start();

  // Returns the job's key once its tasks are written down. Fails with conflict, and the number found, if they
  // are not as many as expected; invalid_argument (no reason, nothing to do); too_large (over kTasksMax);
  // overloaded (as many jobs run as may).
  base::Result<task::BulkJobKey> begin(BulkRequest request);

 private:
  struct Running;
  using RunningPtr = std::shared_ptr<Running>;

  base::Result<std::vector<task::TaskKey>> find(const BulkRequest& request) const;
  base::Result<void> write(store::OperatorWrite write);
  void run(const RunningPtr& job);
  void act(const RunningPtr& job, task::TaskKey task);
  void acted(const RunningPtr& job);

  store::OperatorStore& store_;
  OperatorActions& actions_;
  Inbox& inbox_;
  Background& background_;
  const base::Clock& clock_;
  base::Guarded<std::vector<RunningPtr>> running_;
};

}  // namespace baton::engine
