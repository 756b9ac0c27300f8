// Wake: queues a turn whose time has come. Pure.
#pragma once

#include "base/error.h"
#include "engine/decide/rules/basics.h"

namespace baton::engine {

struct Wake {
  task::TaskKey task;
  task::TurnNumber turn;  // the one that waits
  store::NodeId self;     // unset if the store is not shared

  // Refuses with not_found if the turn no longer waits for a time, or is another node's.
  base::Result<task::Change> decide(const store::TaskRow& now) const {
    const task::TaskHead& head = now.head;
    const bool waits = head.turn_state == task::TurnState::waiting && head.turn == turn && is_ours(now, self);
    if (!waits || !head.waits.until)
      return base::fail(base::ErrorCode::not_found, "the turn is no longer waiting");
    task::Change change = change_of(head);
    change.turn.emplace().state = task::TurnState::queued;
    return change;
  }
};

}  // namespace baton::engine
