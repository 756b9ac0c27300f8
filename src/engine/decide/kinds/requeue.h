// Requeue: an operator's order to begin a task's turn now, or again. A turn that waits for a time is queued;
// a running one is broken off once this is stored. Pure.
#pragma once

#include "agents/cards/catalogue.h"
#include "engine/decide/rules/basics.h"
#include "engine/decide/rules/interventions.h"

namespace baton::engine {

struct Requeue {
  task::TaskKey task;
  task::AuditEntry entry;
  store::NodeId self;  // unset if the store is not shared
  const agents::Catalogue& catalogue;
  bool is_elsewhere = false;  // result: another node had the task's turn

  // Refuses with conflict if the task has no turn, if the turn waits only for children, or if no agent can
  // run it.
  base::Result<task::Change> decide(const store::TaskRow& now) {
    const task::TaskHead& head = now.head;
    const auto refused = [](const char* why) { return base::fail(base::ErrorCode::conflict, why); };
    is_elsewhere = !is_ours(now, self);
    if (head.turn_state == task::TurnState::none) return refused("the task has no turn");
    if (catalogue.find(head.agent) == nullptr)
      return refused("the task's agent is not served: its card is invalid or was removed");
    task::Change change = change_of(head);
    change.turn.emplace();
    if (head.turn_state == task::TurnState::waiting) {
      if (!head.waits.until) return refused("the task is waiting for its child tasks");
      change.turn->state = task::TurnState::queued;
    }
    note_intervention(change, entry);
    return change;
  }
};

}  // namespace baton::engine
