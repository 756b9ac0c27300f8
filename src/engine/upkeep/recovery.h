// Recovery: handles the turns that an earlier run of the program left queued or broken off: at start and,
// where nodes share the store, those of a node that is gone.
//
// A broken-off turn follows its agent's rule. `resume` withdraws the output of the broken attempt and queues
// the turn again, however often that happens, unless it is what the program dies of. If the turn awaited
// children, its task waits for them first, and the attempt does not count, unless its agent resumes beside
// them. `fail` ends the task with a clear reason. A task whose cancel was requested is canceled, and so are
// the open children of ended tasks; a plan that undoes goes on with that. Tasks of an agent that the
// catalogue has left out stay as they are.
//
// A turn that ran at kSuspectDeaths deaths of its program in a row, without output stored in between, is a
// suspect (Quarantine). After kQuarantineDeaths more while it was the only suspect that ran, it is
// quarantined: it waits for a time that does not come, which older nodes keep to as well, until an operator
// has it queued.
//
// Threads: one at a time; `run` before new tasks are accepted. Blocks.
#pragma once

#include <functional>

#include "agents/cards/catalogue.h"
#include "base/clock.h"
#include "engine/decide/inbox.h"
#include "engine/turns/turn_log.h"
#include "store/operator_store.h"

namespace baton::engine {

class Recovery {
 public:
  // `self`: of the nodes that share the store; none: it is not shared. `runs_here`: whether a turn of the
  // task runs on this node, which an operator may have run again before it is recovered; called by the
  // engine's thread.
  // `operators`: where deaths are counted; null: they are not.
  Recovery(const store::TaskStore& store, store::OperatorStore* operators, Inbox& inbox,
           const agents::Catalogue& catalogue, const base::Clock& clock, store::NodeId self,
           std::function<bool(task::TaskKey)> runs_here);

  struct Found {
    std::vector<task::TaskHead> unfinished;  // tasks whose turns were, as they were
    std::vector<task::TaskHead> going_on;    // those whose turns are queued or wait now, as they are
    std::vector<task::TaskHead> suspects;    // of these, those that one at a time may begin
    std::vector<task::TaskKey> quarantined;  // and those that wait for an operator
  };
  base::Result<Found> run();
  // The same for these tasks of this node while it serves, but for the children of tasks that have ended.
  base::Result<Found> take_up(std::vector<task::TaskHead> unfinished);

 private:
  base::Result<std::vector<task::TaskHead>> all_unfinished() const;
  // `crashed`: what is known of the task's turn; null: nothing, or it is not asked for.
  base::Result<task::TaskHead> recover(task::TaskHead found, const store::CrashedTurn* crashed);
  using Crashed = std::vector<store::CrashedTurn>;
  base::Result<Crashed> crashed_turns() const;
  base::Result<void> count_death(const task::TaskHead& head, store::CrashedTurn& turn) const;
  base::Result<bool> has_output(task::TaskKey task, task::EventNumber after) const;
  base::Result<void> store_counts(store::CrashCounts counts);
  base::Result<task::TaskHead> commit(task::Change change);
  base::Result<bool> look_again(task::TaskHead& head) const;
  base::Result<void> end_children(task::TaskKey parent);
  base::Result<void> end_orphans(std::vector<task::TaskHead>& going_on);
  base::Result<void> undo(task::TaskHead head, std::vector<task::TaskHead>& going_on);
  using Open = store::TaskStore::Open;
  base::Result<void> end(task::TaskHead head, task::State state, const std::string& reason);
  task::Change end_of(const task::TaskHead& head, TurnLog log, task::State state,
                      const std::string& reason) const;
  base::Result<task::Change> change_for(const task::TaskHead& head, const store::CrashedTurn* crashed) const;
  base::Result<TurnLog> log_of_turn(const task::TaskHead& head) const;

  const store::TaskStore& store_;
  store::OperatorStore* const operators_;
  Inbox& inbox_;
  const agents::Catalogue& catalogue_;
  const base::Clock& clock_;
  const store::NodeId self_;
  const std::function<bool(task::TaskKey)> runs_here_;
};

}  // namespace baton::engine
