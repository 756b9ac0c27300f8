// Engine: owns the parts that run tasks and connects them.
//
// Threads: `start` and `drain` from one thread; the objects it hands out may be used from any thread.
// Lifetime: the store, the catalogue and the clock must outlive it.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "engine/conversations.h"
#include "engine/delegate/delegation.h"
#include "engine/nodes/other_nodes.h"
#include "engine/operators/api_keys.h"
#include "engine/operators/bulk_jobs.h"
#include "engine/operators/erasure.h"
#include "engine/operators/operator_actions.h"
#include "engine/read/deliveries.h"
#include "engine/read/task_list.h"
#include "engine/sends/task_service.h"
#include "engine/shared/options.h"
#include "engine/shared/turn_stats.h"
#include "engine/shared/wiring.h"
#include "engine/upkeep/recovery.h"
#include "engine/upkeep/retention.h"
#include "engine/upkeep/schedules.h"

namespace baton::engine {

class Engine {
 public:
  Engine(store::TaskStore& store, store::DeliveryStore& deliveries, store::OperatorStore& operators,
         const agents::Catalogue& catalogue, const base::Clock& clock, EngineOptions options,
         EngineWiring wiring);
  ~Engine();

  // Enables the removal of tasks from the store, by age and on request. Call once, before `start`; without it
  // tasks stay.
  void set_retention(store::RetentionStore& store);
  // Null without set_retention.
  Erasure* erasure() { return removing_ ? &removing_->erasure : nullptr; }

  // Recovers the turns that an earlier run left unfinished; returns how many.
  base::Result<int> start();

  // Starts no more turns, gives running ones the grace, then answers waiting callers. Blocks. Turns that have
  // not ended resume after a restart.
  void drain();

  // Ends `drain` early; turns still running resume after a restart. From any thread.
  void hurry() { turns_.hurry(); }

  // The maximum number of queued turns of one caller; 0: unbounded. From any thread.
  void set_caller_queue_max(int turns) { turns_.scheduler().set_caller_max(turns); }
  // The maximum number of one caller's tasks that wait for a time; 0: unbounded. From any thread.
  void set_caller_delayed_max(int tasks) { turns_.set_caller_delayed_max(tasks); }

  // Call after the catalogue was reloaded. Blocks.
  base::Result<void> catalogue_changed();

  // See Inbox.
  bool store_is_writable() { return inbox_.store_is_writable(); }
  bool calls_many_back() const { return inbox_.calls_many_back(); }
  // Runs `work` after `time`, or never once the engine has drained. `work` must not block.
  void after(std::chrono::milliseconds time, std::function<void()> work) {
    background_.timers().after(time, std::move(work));
  }

  // Waits until no write is pending. If no further calls are made, no callback runs after this.
  void settle() { inbox_.settle(); }

  TaskService& tasks() { return tasks_; }
  Cancels& cancels() { return cancels_; }
  PushConfigs& push() { return push_; }
  Conversations& conversations() { return conversations_; }
  LiveTasks& live() { return live_; }
  const TaskReader& reader() const { return reader_; }
  // For the server's operators. Data read through `operator_store` may not be durable before `settle_reads`.
  OperatorActions& operator_actions() { return actions_; }
  BulkJobs& bulk_jobs() { return jobs_; }
  ApiKeys& api_keys() { return keys_; }
  const store::OperatorStore& operator_store() const { return operators_; }
  void settle_reads() const { inbox_.settle_reads(); }
  // The notifier's queue of deliveries.
  notify::DeliveryQueue& deliveries() { return deliveries_; }
  base::EventLoop& timers() { return background_.timers(); }
  const EngineOptions& options() const { return options_; }

  struct Counts {
    Scheduler::Counts turns;
    LiveTasks::Counts live;
    std::size_t waiting_for_time = 0;  // tasks
    Schedules::Counts schedules;
    Retention::Counts retention;
    std::int64_t submitted = 0, completed = 0, failed = 0, canceled = 0, rejected = 0;
  };
  Counts counts() const;
  // Returns how many turns are quarantined, on all nodes if they share the store. Cheap.
  std::size_t quarantined() const { return turns_.quarantine().isolated(); }
  // Returns the figures of each agent that has had a turn or a task since the start, ordered by name,
  // including hidden agents.
  std::vector<AgentTurns> agent_turns() const;
  const base::Histogram& flush_time() const { return inbox_.flush_time(); }

 private:
  base::Result<void> resume(const Recovery::Found& found);
  bool write_now(store::OperatorWrite what);
  base::Result<void> load_schedules();
  void look_at_others();
  void await_stored();
  void count_after(std::chrono::milliseconds pause);

  const EngineOptions options_;
  const EngineWiring wiring_;
  TurnStats stats_;
  const agents::Catalogue& catalogue_;
  const base::Clock& clock_;
  store::OperatorStore& operators_;
  LiveTasks live_;
  std::optional<CallerUsage> usage_;
  Inbox inbox_;
  Background background_;
  const TaskReader reader_;
  Deliveries deliveries_;
  TurnRunner turns_;
  PushConfigs push_;
  Cancels cancels_;
  TaskService tasks_;
  Delegation delegation_;
  Conversations conversations_;
  Recovery recovery_;
  Schedules schedules_;
  // The parts that remove tasks from the store; see set_retention.
  struct Removing {
    Removing(store::RetentionStore& kept, Inbox& inbox, Cancels& cancels, const agents::Catalogue& catalogue,
             Background& background, const base::Clock& clock, const EngineOptions& options,
             store::Peers* peers, Erasure::Audit audit)
        : store(kept),
          removals(kept, inbox, background),
          retention(kept, removals, cancels, catalogue, background, clock, options.retention, peers),
          erasure(kept, removals, background, std::move(audit)) {}
    store::RetentionStore& store;
    Removals removals;
    Retention retention;
    Erasure erasure;
  };
  std::optional<Removing> removing_;
  OperatorActions actions_;
  BulkJobs jobs_;
  ApiKeys keys_;
  std::optional<OtherNodes> others_;  // where the store is shared
  bool drained_ = false;
  bool notes_stop_ = false;  // the store must record that the program was asked to stop
};

}  // namespace baton::engine
