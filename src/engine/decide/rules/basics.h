// Helpers that most decisions begin with. Pure.
#pragma once

#include "store/task_store.h"
#include "task/change.h"

namespace baton::engine {

// Returns a change of this task that is refused if another change comes first.
inline task::Change change_of(const task::TaskHead& head) {
  task::Change change;
  change.task = head.key;
  change.expected = head.version;
  return change;
}

// Returns true if the task has no turn, or its turn is this node's. `self`: unset if the store is not shared.
inline bool is_ours(const store::TaskRow& row, store::NodeId self) {
  return !self || !row.owner || row.owner == self;
}

// Returns true if this attempt of this turn is running.
inline bool is_running(const task::TaskHead& head, task::TurnNumber turn, int attempt) {
  return head.turn_state == task::TurnState::running && head.turn == turn && head.attempt == attempt;
}

}  // namespace baton::engine
