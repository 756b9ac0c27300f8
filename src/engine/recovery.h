// Recovery: handles, at start, the turns that an earlier run of the program left queued or broken off.
//
// Queued turns are queued again. A broken-off turn follows its agent's rule. `resume` withdraws the output of
// the broken attempt and queues the turn again, however often that happens; the log warns of a turn that may
// be crashing the program. `fail` ends the task with a clear reason. A task whose cancel was requested is
// canceled, and so are the open children of broken-off turns and of ended tasks. Tasks of an agent that the
// catalogue has left out stay as they are. Threads: `run` from one thread, before new tasks are accepted.
// Blocks.
#pragma once

#include "agents/catalogue.h"
#include "base/clock.h"
#include "engine/inbox.h"
#include "engine/open_subagents.h"
#include "engine/scheduler.h"

namespace baton::engine {

class Recovery {
 public:
  Recovery(const store::TaskStore& store, Inbox& inbox, Scheduler& scheduler,
           const agents::Catalogue& catalogue, const base::Clock& clock);

  // Returns the tasks whose turns were unfinished.
  base::Result<std::vector<task::TaskHead>> run();

 private:
  base::Result<std::vector<task::TaskHead>> all_unfinished() const;
  base::Result<bool> recover(const task::TaskHead& found);
  base::Result<void> commit(task::Change change);
  base::Result<void> end_children(task::TaskKey parent);
  base::Result<void> end_orphans();
  using Open = store::TaskStore::Open;
  base::Result<void> end_all(Open which, task::TaskKey key);
  // What a broken attempt has left in the log.
  struct Shown {
    std::vector<task::ArtifactId> artifacts;  // and replies; begun after the turn's message
    OpenSubagents subagents;
  };
  base::Result<void> end(const task::TaskHead& head, task::State state, const std::string& reason);
  task::Change end_of(const task::TaskHead& head, Shown shown, task::State state,
                      const std::string& reason) const;
  base::Result<task::Change> change_for(const task::TaskHead& head) const;
  base::Result<Shown> shown_by_broken_turn(const task::TaskHead& head) const;

  const store::TaskStore& store_;
  Inbox& inbox_;
  Scheduler& scheduler_;
  const agents::Catalogue& catalogue_;
  const base::Clock& clock_;
};

}  // namespace baton::engine
