// TurnRunner: begins the turns that the scheduler starts, and keeps the registry of running turns.
//
// A turn is enrolled when its beginning is in the store, and then runs at once. If its agent's work must not
// be done twice, it runs only once its beginning is durable, because a power failure could lose the beginning
// but not the work.
// Threads: any. Store reads for a turn run on the background pool.
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
#include "engine/shared/options.h"
#include "engine/shared/turn_stats.h"
#include "engine/shared/wiring.h"
#include "engine/turns/child_effects.h"
#include "engine/turns/running_turn.h"
#include "engine/turns/subject_tokens.h"

namespace baton::engine {

class TurnRunner {
 public:
  TurnRunner(const TaskReader& reader, Inbox& inbox, const agents::Catalogue& catalogue,
             Background& background, const base::Clock& clock, const EngineOptions& options,
             const EngineWiring& wiring, TurnStats& stats);

  // Sets the listener for children's events. Call once, before any turn begins.
  void listen(ChildListener listener) { listener_ = std::move(listener); }
  void report(ChildEffect effect) const { listener_(std::move(effect)); }

  Scheduler& scheduler() { return scheduler_; }
  // Returns the name under which the agent's turns hold slots: its own, or that of the catalogue's entry for
  // an agent named by a URL, whose slots all such agents of the entry share.
  task::AgentName slots_of(const task::AgentName& agent) const;
  AgentScales& scales() { return scales_; }
  SubjectTokens& subjects() { return subjects_; }
  Quarantine& quarantine() { return quarantine_; }
  const Quarantine& quarantine() const { return quarantine_; }
  // Returns true if A2A shows the agent's replies in the status that ends its turns.
  bool shows_replies_in_status(const task::AgentName& agent) const;
  // Clears the suspicion of the task's turn; turns held back because of it may begin.
  void clear_suspicion(task::TaskKey task);
  // Reads the agents' limits from the catalogue again. Call after the catalogue has changed.
  void apply_limits();

  // Enrolls a turn whose beginning is in the store, in a slot reserved for it. Call it from that change's
  // `committed`, so that no later change comes first. run_if_early or run_if_late then runs the turn.
  std::shared_ptr<RunningTurn> enroll(const task::TaskHead& head);
  // `first`: the turn's input, if its message is the first in its context.
  void run_if_early(const std::shared_ptr<RunningTurn>& run, std::optional<store::TurnInput> first = {});
  void run_if_late(const std::shared_ptr<RunningTurn>& run);

  // Cancels the task's running turn; see RunningTurn::cancel. Call after the request is stored. Returns false
  // if no turn of the task runs here.
  bool cancel(task::TaskKey task, const std::string& reason);

  // Breaks off the task's running turn; see RunningTurn. Returns false if no turn of the task runs here.
  bool break_off(task::TaskKey task);

  // Returns true if a turn of the task runs here.
  bool runs(task::TaskKey task) const { return running_turn(task) != nullptr; }
  std::vector<task::TaskKey> running_tasks() const;
  // Returns the last event of the task if its turn runs here, else 0.
  task::EventNumber last_event(task::TaskKey task) const;
  // Another node may have changed the task. Cancels its running turn if the task is canceled, and abandons
  // the turn if it belongs to another node now.
  void changed_elsewhere(const store::TaskEnd& now);
  // The task was ended by another node and has been removed. Abandons its running turn.
  void gone_elsewhere(task::TaskKey task);
  // Called by a turn that is over: its end is in the store or the turn was abandoned, and its executor is
  // released. `slot_held`: the turn holds a slot that must be given back. Must not block.
  void over(const std::shared_ptr<RunningTurn>& run, bool slot_held);
  // Gives up a turn's slot while the turn waits for children. Returns false if too many turns wait; this one
  // must not wait then.
  bool pause(const task::AgentName& agent);
  // Ends a `pause`: the turn no longer waits for children.
  void resume(const task::AgentName& agent);

  // Returns how many more turns could begin at once, by agent; empty while there are no slots.
  std::vector<std::pair<task::AgentName, int>> room() const { return scheduler_.room(); }

  // Withdraws the question from the agent. Call after the cancel of the task that waited with it is stored.
  void withdraw_question(const task::AgentName& agent, const std::string& ask) const;

  // Stores that an awaited child has stopped or asks; if a turn of the task runs, that turn stores it. Queues
  // the task's turn if this ends its wait. No-op unless the task still works on the message of event
  // `message`.
  void log_stop(task::TaskKey task, task::EventNumber message, const task::Subagent& child);

  ChildQuestions& questions() { return questions_; }
  // Makes the task show the next question of its children, or none. Call after its questions changed. `now`:
  // see RunningTurn::questions_changed.
  void update_question(task::TaskKey task, const task::TaskHead* now = nullptr);
  // Enqueues the task's turn if it is queued, or sets its timer if it waits for a time. Call it from the
  // `committed` of a change that may have done either, or at start.
  void schedule(const task::TaskHead& head);
  // Like `schedule`, after a change that took the turn from another node: the awaited children report to
  // this node first.
  void take_over(const task::TaskHead& head);
  // This node's id; unset if the store is not shared.
  store::NodeId self() const;
  const Wakes& wakes() const { return wakes_; }
  // The maximum number of one caller's tasks that wait for a time; 0: unbounded.
  void set_caller_delayed_max(int tasks) { wakes_.set_caller_max(tasks); }
  std::size_t waiting_for_time() const { return wakes_.count(); }
  // Drops the task's turn: the task was canceled before the turn began.
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
  // Returns the request for room of a turn that is stored.
  Scheduler::RoomRequest room_request_of(const task::TaskHead& head) const;
  void begin_turn(task::TaskKey task, const task::AgentName& agent);
  bool begins_early(const task::AgentName& agent) const;
  void run(const std::shared_ptr<RunningTurn>& run, std::optional<store::TurnInput> first);
  void in_background(const std::shared_ptr<RunningTurn>& run, std::function<void()> work);
  void start(const std::shared_ptr<RunningTurn>& run, std::optional<store::TurnInput> first);
  void not_read(const std::shared_ptr<RunningTurn>& run, const base::Error& error);
  base::Result<agents::Turn> describe(RunningTurn& run, const agents::Agent& agent,
                                      std::optional<store::TurnInput> first) const;
  std::string set_budget(const task::TaskHead& head, const agents::Agent& agent, agents::Turn& turn) const;
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
  const EngineWiring& wiring_;
  TurnStats& stats_;
  ChildListener listener_;
  ChildQuestions questions_;
  mutable SubjectTokens subjects_;
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
