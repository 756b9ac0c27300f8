// RerunLostTurn: makes a requeued turn run again as another attempt, if the task's head says that it runs,
// though this node does not run it. Pure.
#pragma once

#include <vector>

#include "engine/decide/rules/basics.h"
#include "engine/decide/rules/turn_ending.h"

namespace baton::engine {

struct RerunLostTurn {
  task::TaskKey task;
  task::TurnNumber turn;  // the lost one
  int attempt = 0;
  std::vector<task::ArtifactId> shown;  // shown by that attempt; withdrawn now

  // Refuses with conflict if that attempt has ended.
  base::Result<task::Change> decide(const store::TaskRow& now) const {
    if (!is_running(now.head, turn, attempt))
      return base::fail(base::ErrorCode::conflict, "the turn has ended");
    task::Change change = change_of(now.head);
    run_again(change, now.head, shown, true);
    return change;
  }
};

}  // namespace baton::engine
