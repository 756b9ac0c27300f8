// Deliveries as operators see them, and what they order. Everything throws sql::Failure.
#pragma once

#include "base/error.h"
#include "store/operator_store.h"
#include "store/sql/connection.h"
#include "store/sql/write_state.h"

namespace baton::store::sql {

// Whether the task has deliveries that the order is about: not_found if not.
base::Result<void> check_order(Connection& connection, task::TaskKey task, const task::DeliveryOrder& order);
// Does what was ordered. A config's deliveries stay in order: what is resent comes before its later ones.
void follow_order(WriteState& state, task::TaskKey task, const task::DeliveryOrder& order);

DeliveryPage read_deliveries(Connection& connection, const DeliveryFilter& filter, std::int64_t before,
                             int limit);
base::Result<DeliveryLine> read_delivery(Connection& connection, DeliveryKey key);

}  // namespace baton::store::sql
