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

#include "agents/cards/catalogue.h"
#include "engine/decide/persistent.h"
#include "engine/read/task_reader.h"
#include "engine/scheduling/agent_scales.h"
#include "engine/scheduling/quarantine.h"
#include "engine/scheduling/scheduler.h"
#include "engine/scheduling/wakes.h"
#include "engine/shared/turn_stats.h"
#include "engine/turns/child_effects.h"
#include "engine/turns/running_turn.h"

namespace baton::engine {

class TurnRunner {
 public:
  TurnRunner(const TaskReader& reader, Inbox& inbox, const agents::Catalogue& catalogue,
             Background& background, const base::Clock& clock, const EngineOptions& options,
             TurnStats& stats);

  // Sets what is told about children. Once, before any turn begins.
  void listen(ChildListener listener) { listener_ = std::move(listener); }
  void tell(ChildEffect effect) const { listener_(std::move(effect)); }

  Scheduler& scheduler() { return scheduler_; }
  // The name under which an agent's turns have slots: its own, but for agents at URLs, which share theirs.
  task::AgentName slots_of(const task::AgentName& agent) const;
  AgentScales& scales() { return scales_; }
  Quarantine& quarantine() { return quarantine_; }
  const Quarantine& quarantine() const { return quarantine_; }
  // The task's turn is no suspect any more; others may go on.
  void clear_suspicion(task::TaskKey task);
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

  // Breaks the task's running turn off; see RunningTurn. False: no turn of the task runs here.
  bool break_off(task::TaskKey task);

  // Whether a turn of the task runs here.
  bool runs(task::TaskKey task) const { return running_turn(task) != nullptr; }
  std::vector<task::TaskKey> running_tasks() const;
  // The last event of a task whose turn runs here; 0: none does.
  task::EventNumber last_event(task::TaskKey task) const;
  // Another node may have changed the task: its running turn is told of a cancel, or abandoned if it is not
  // this node's any more.
  void changed_elsewhere(const store::TaskEnd& now);
  // The task is gone: another node has ended it, and it was removed since.
  void gone_elsewhere(task::TaskKey task);
  // For the turns themselves. The turn is over: its end is in the store, and its executor is released.
  // `slot_held`: its slot must be given back. Must not block.
  void over(const std::shared_ptr<RunningTurn>& run, bool slot_held);
  // Gives up a turn's slot while it waits for children. False: too many turns do; this one may not wait.
  bool pause(const task::AgentName& agent);
  // The turn goes on after waiting for children.
  void resume(const task::AgentName& agent);

  // How many more turns could begin at once, by agent; nothing while there are no slots.
  std::vector<std::pair<task::AgentName, int>> room() const { return scheduler_.room(); }

  // The task that waited with this question was canceled, and that is stored.
  void withdraw_question(const task::AgentName& agent, const std::string& ask) const;

  // A child that a task awaits has stopped, or asks: stores that, or has the running turn store it, and
  // queues the turn if it waits for this. No-op unless the task still works on what it was asked at event
  // `message`.
  void settle(task::TaskKey task, task::EventNumber message, const task::Subagent& child);

  ChildQuestions& questions() { return questions_; }
  // The task's questions have changed: has it show the one that is next, or none. `now`: as in RunningTurn.
  void ask(task::TaskKey task, const task::TaskHead* now = nullptr);
  // After a change that may have queued the task's turn or made it wait for a time: sees to it that it goes
  // on. Call it from that change's `committed`, or at start.
  void go_on(const task::TaskHead& head);
  // The same where this node's change has taken the turn from another node: its children tell this one now.
  void take_over(const task::TaskHead& head);
  // This node; none if the store is not shared.
  store::NodeId self() const;
  const Wakes& wakes() const { return wakes_; }
  // The most tasks of one caller that may do so; 0: unbounded.
  void set_caller_delayed_max(int tasks) { wakes_.set_caller_max(tasks); }
  std::size_t waiting_for_time() const { return wakes_.count(); }
  // The task's turn is wanted no more: it was canceled before it began.
  void withdraw(const task::TaskHead& head);

  // Starts no more turns, gives running ones the grace, then abandons them: they resume after a restart.
  // Blocks.
  void drain(std::chrono::milliseconds grace);
  // Ends the grace early.
  void hurry() { hurried_ = true; }

  std::size_t running() const;
  Scheduler::Counts counts() const { return scheduler_.counts(); }
  // By agent, as in Scheduler.
  auto agents() const { return scheduler_.agents(); }

 private:
  // What the task's turn asks of the scheduler, once it is stored.
  Scheduler::Claim claim_of(const task::TaskHead& head) const;
  void begin(task::TaskKey task, const task::AgentName& agent);
  bool begins_early(const task::AgentName& agent) const;
  void run(const std::shared_ptr<RunningTurn>& run, std::optional<store::TurnInput> first);
  void in_background(const std::shared_ptr<RunningTurn>& run, std::function<void()> work);
  void execute(const std::shared_ptr<RunningTurn>& run, std::optional<store::TurnInput> first = {});
  void start(const std::shared_ptr<RunningTurn>& run, std::optional<store::TurnInput> first);
  void not_read(const std::shared_ptr<RunningTurn>& run, const base::Error& error);
  base::Result<agents::Turn> describe(RunningTurn& run, const agents::Agent& agent,
                                      std::optional<store::TurnInput> first) const;
  std::string tell_budget(const task::TaskHead& head, const agents::Agent& agent, agents::Turn& turn) const;
  base::Result<void> take_log(RunningTurn& run, const agents::Agent& agent, agents::Turn& turn) const;
  std::shared_ptr<agents::UsedIds> used_ids(task::ContextKey context) const;
  std::shared_ptr<RunningTurn> running_turn(task::TaskKey task) const;
  base::Result<std::string> answered_ask(const task::TaskHead& head) const;
  bool settled_by_run(task::TaskKey task, task::EventNumber message, const task::Subagent& child);
  void wake(task::TaskKey task, task::TurnNumber turn);

  // The beginning of every log line about a task.
  static std::string facts_of(const task::TaskHead& head);

  const TaskReader& reader_;
  Inbox& inbox_;
  const agents::Catalogue& catalogue_;
  Background& background_;
  const base::Clock& clock_;
  const EngineOptions& options_;
  TurnStats& stats_;
  ChildListener listener_;
  ChildQuestions questions_;
  const RunningTurn::Services services_;
  Quarantine quarantine_;
  Scheduler scheduler_;
  Persistent persistent_;
  AgentScales scales_;
  Wakes wakes_;
  std::atomic<bool> hurried_{false};
  std::atomic<int> paused_{0};  // turns that wait for children
  base::Guarded<std::unordered_map<task::TaskKey, std::shared_ptr<RunningTurn>>> running_;
  // For each context with running turns. Shared with the turns, which may outlive this.
  using UsedIdsOfContexts =
      base::Guarded<std::unordered_map<task::ContextKey, std::weak_ptr<agents::UsedIds>>>;
  const std::shared_ptr<UsedIdsOfContexts> used_ids_ = std::make_shared<UsedIdsOfContexts>();
};

}  // namespace baton::engine
