// TurnRunner: begins the turns that the scheduler starts, and keeps the registry of running turns.
//
// A turn is enrolled when its beginning is in the store, and runs from then on; where its agent's work must
// not be done twice, only once that is durable: a power failure could lose the beginning and not the work.
// Threads: any. What a turn is told is read on the background pool.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <unordered_map>
#include <vector>

#include "agents/catalogue.h"
#include "engine/running_turn.h"
#include "engine/scheduler.h"
#include "engine/task_reader.h"

namespace baton::engine {

// What turns ask of other agents.
class Children {
 public:
  virtual ~Children() = default;
  // Never fails: errors are delivered to the turn. `nth`: see digest_of_call.
  virtual void start(std::shared_ptr<RunningTurn> run, agents::DelegateRequest request, int nth) = 0;
  // A turn of this task is over. If the task has ended, its open children are no longer needed.
  virtual void turn_over(const task::TaskHead& head) = 0;
};

class TurnRunner final : private RunningTurn::Owner {
 public:
  TurnRunner(const TaskReader& reader, Inbox& inbox, const agents::Catalogue& catalogue, Children& children,
             Background& background, const base::Clock& clock, const EngineOptions& options);

  Scheduler& scheduler() { return scheduler_; }
  // Takes the agents' limits from the catalogue again, after it has changed.
  void take_limits();

  // Enrolls a turn whose beginning is in the store, in a slot reserved for it. Call it from that change's
  // `committed`, so that no later change comes first. The next two run it.
  std::shared_ptr<RunningTurn> enroll(const task::TaskHead& head);
  // `first`: the turn's input, if its message is the first in its context.
  void run_if_early(const std::shared_ptr<RunningTurn>& run, std::optional<store::TurnInput> first = {});
  void run_if_late(const std::shared_ptr<RunningTurn>& run);

  // Cancels the task's running turn, after the request was stored; see RunningTurn::cancel. False: no turn of
  // the task runs here.
  bool cancel(task::TaskKey task, const std::string& reason);

  // A child of a task that waits has stopped, or asks: stores that, and queues the turn if it was the last
  // one. No-op unless the task still waits for what it was asked at event `message`.
  void settle(task::TaskKey task, task::EventNumber message, const task::Subagent& child);

  // Starts no more turns, gives running ones the grace, then abandons them: they resume after a restart.
  // Blocks.
  void drain(std::chrono::milliseconds grace);
  // Ends the grace early.
  void hurry() { hurried_ = true; }

  std::size_t running() const;
  Scheduler::Counts counts() const { return scheduler_.counts(); }

 private:
  void begin(task::TaskKey task, const task::AgentName& agent);
  base::Result<task::Change> beginning(const store::TaskRow& now) const;
  void refused(task::TaskKey task, const task::AgentName& agent, const base::Error& error);
  bool begins_early(const task::AgentName& agent) const;
  void run(const std::shared_ptr<RunningTurn>& run, std::optional<store::TurnInput> first);
  void execute(const std::shared_ptr<RunningTurn>& run, std::optional<store::TurnInput> first = {});
  base::Result<agents::Turn> describe(RunningTurn& run, std::optional<store::TurnInput> first) const;
  std::shared_ptr<agents::UsedIds> used_ids(task::ContextKey context) const;
  void queue_again(const task::TaskHead& head);

  void over(const std::shared_ptr<RunningTurn>& run, bool slot_held) override;
  void delegate(const std::shared_ptr<RunningTurn>& run, agents::DelegateRequest request, int nth) override;
  bool pause(const task::AgentName& agent) override;
  void resume(const task::AgentName& agent) override;

  const TaskReader& reader_;
  Inbox& inbox_;
  const agents::Catalogue& catalogue_;
  Children& children_;
  Background& background_;
  const base::Clock& clock_;
  const EngineOptions& options_;
  const RunningTurn::Services services_;
  Scheduler scheduler_;
  std::atomic<bool> hurried_{false};
  std::atomic<int> paused_{0};  // turns that wait for children
  base::Guarded<std::unordered_map<task::TaskKey, std::shared_ptr<RunningTurn>>> running_;
  // For each context with running turns. Shared with the turns, which may outlive this.
  using UsedIdsOfContexts =
      base::Guarded<std::unordered_map<task::ContextKey, std::weak_ptr<agents::UsedIds>>>;
  const std::shared_ptr<UsedIdsOfContexts> used_ids_ = std::make_shared<UsedIdsOfContexts>();
};

}  // namespace baton::engine
