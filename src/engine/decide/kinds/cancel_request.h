// CancelRequest: cancels a task. A running turn is notified once the request is durable. Any other task ends
// at once, or first undoes its work. Pure.
#pragma once

#include <memory>
#include <string>

#include "agents/cards/catalogue.h"
#include "base/clock.h"
#include "engine/decide/rules/basics.h"

namespace baton::engine {

struct CancelRequest {
  task::TaskKey task;
  std::string reason;                             // the text of the canceled status; empty: none
  std::shared_ptr<const task::AuditEntry> audit;  // an operator's; else null
  store::NodeId self;                             // unset if the store is not shared
  const agents::Catalogue& catalogue;
  const base::Clock& clock;

  // Results, for the code that posts the request.
  bool is_known = false;         // the task is being canceled already
  task::EventNumber since = {};  // the task's last event when that was decided
  bool had_turn = false;         // the task had a turn that had not begun
  bool undoes = false;           // the task undoes what it has done before it ends
  bool wakes = false;            // no turn of it was due, and now one is
  bool is_elsewhere = false;     // another node had its turn
  std::string ask = {};          // the question that the task waited with

  // Refuses with not_cancelable if the task has ended; with conflict if it is being canceled (`is_known`);
  // with unavailable if only another node can tell whether the task undoes.
  base::Result<task::Change> decide(const store::TaskRow& now);
};

}  // namespace baton::engine
