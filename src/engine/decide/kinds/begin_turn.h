// BeginTurn: begins the task's queued turn, or ends its task if no agent can run it. Pure.
#pragma once

#include "agents/cards/catalogue.h"
#include "base/clock.h"
#include "engine/decide/rules/basics.h"
#include "engine/decide/rules/turn_ending.h"
#include "engine/shared/message_checks.h"

namespace baton::engine {

struct BeginTurn {
  task::TaskKey task;
  store::NodeId self;  // unset if the store is not shared
  const agents::Catalogue& catalogue;
  const base::Clock& clock;

  // Refuses with not_found if the turn was canceled or has ended while it was queued, or is another node's.
  base::Result<task::Change> decide(const store::TaskRow& now) const {
    const task::TaskHead& head = now.head;
    if (head.turn_state != task::TurnState::queued || !is_ours(now, self))
      return base::fail(base::ErrorCode::not_found, "the task has no queued turn");
    task::Change change = change_of(head);
    change.turn.emplace();
    if (catalogue.find(head.agent) == nullptr) {
      change.events.push_back(
          status_with_text(task::State::failed, no_longer_served(head.agent), clock.now()));
      change.turn->state = task::TurnState::none;
      return change;
    }
    // A child's question stays shown.
    if (!task::is_waiting(head.state))
      change.events.push_back(task::StatusChanged{{task::State::working, std::nullopt, clock.now()}, {}});
    change.turn->state = task::TurnState::running;
    change.turn->attempt = head.attempt + 1;
    return change;
  }
};

}  // namespace baton::engine
