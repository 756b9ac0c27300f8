// Recovery: handles the turns that an earlier run of the program left queued or broken off: at start and,
// where nodes share the store, those of a node that is gone.
//
// An interrupted turn follows its agent's rule. `resume` withdraws the output of the interrupted attempt and
// queues the turn again, any number of times, unless the turn crashes the program. If the turn awaited
// children, its task waits for them first, and the attempt does not count, unless its agent resumes beside
// them. `fail` ends the task with a clear reason. A task whose cancel was requested is canceled, and so are
// the open children of ended tasks; a plan that undoes its work first continues to do so. Tasks of an agent
// that the catalogue has left out stay as they are.
//
// A turn that ran at kSuspectDeaths deaths of its program in a row, without output stored in between, is a
// suspect (Quarantine). After kQuarantineDeaths more while it was the only suspect that ran, it is
// quarantined until an operator requeues it. It then waits for a time in the far future, so that nodes of
// older versions leave it alone, too.
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
  // `self`: this node, if nodes share the store; else none. `runs_here`: whether a turn of the task already
  // runs on this node, because an operator requeued it before its recovery; called by the engine's thread.
  // `operators`: where deaths are counted; null: they are not.
  Recovery(const store::TaskStore& store, store::OperatorStore* operators, Inbox& inbox,
           const agents::Catalogue& catalogue, const base::Clock& clock, store::NodeId self,
           std::function<bool(task::TaskKey)> runs_here);

  struct Found {
    std::vector<task::TaskHead> unfinished;  // tasks with unfinished turns, as they were found
    std::vector<task::TaskHead> going_on;    // those whose turns are now queued or wait, as they are now
    std::vector<task::TaskHead> suspects;    // of these, those that must run one at a time
    std::vector<task::TaskKey> quarantined;  // of these, those that wait for an operator
  };
  base::Result<Found> run();
  // Like `run`, for these tasks of this node while it serves; but leaves the children of ended tasks.
  base::Result<Found> take_up(std::vector<task::TaskHead> unfinished);

 private:
  base::Result<std::vector<task::TaskHead>> all_unfinished() const;
  // `crashed`: the record of the turn's crashes; null: it has none, or they are not counted.
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
