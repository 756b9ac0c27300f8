// OrderDeliveries: an operator's order to send webhook deliveries of a task again, or to give them up. Pure;
// the store refuses with not_found if there are none.
#pragma once

#include "engine/decide/rules/basics.h"
#include "engine/decide/rules/interventions.h"

namespace baton::engine {

struct OrderDeliveries {
  task::TaskKey task;
  task::AuditEntry entry;
  task::DeliveryOrder order;

  base::Result<task::Change> decide(const store::TaskRow& now) const {
    task::Change change = change_of(now.head);
    change.deliveries = order;
    note_intervention(change, entry);
    return change;
  }
};

}  // namespace baton::engine
