// EndLostTurn: ends a canceled task whose head says that a turn runs, though this node runs none. Pure.
#pragma once

#include "base/clock.h"
#include "engine/decide/rules/basics.h"
#include "engine/decide/rules/turn_ending.h"

namespace baton::engine {

struct EndLostTurn {
  task::TaskKey task;
  task::TurnNumber turn;  // the lost one
  int attempt = 0;
  std::string reason;  // the text of the canceled status; empty: none
  store::NodeId self;  // unset if the store is not shared
  const base::Clock& clock;

  // Refuses with conflict if that turn has ended, or is another node's.
  base::Result<task::Change> decide(const store::TaskRow& now) const {
    if (!is_ours(now, self) || !is_running(now.head, turn, attempt))
      return base::fail(base::ErrorCode::conflict, "the turn has ended, or another node is ending it");
    task::Change change = change_of(now.head);
    change.events.push_back(status_with_text(task::State::canceled, reason, clock.now()));
    change.turn.emplace().state = task::TurnState::none;
    return change;
  }
};

}  // namespace baton::engine
