// The operators' view of deliveries, and their orders. Everything throws sql::Failure.
#pragma once

#include "base/error.h"
#include "store/operator_store.h"
#include "store/sql/connection.h"
#include "store/sql/write_state.h"

namespace baton::store::sql {

// Fails with not_found if the task has no deliveries that the order applies to.
base::Result<void> check_order(Connection& connection, task::TaskKey task, const task::DeliveryOrder& order);
// Executes the order. A config's deliveries stay in order: resent deliveries come before later ones.
void follow_order(WriteState& state, task::TaskKey task, const task::DeliveryOrder& order);

DeliveryPage read_deliveries(Connection& connection, const DeliveryFilter& filter, std::int64_t before,
                             int limit);
base::Result<DeliveryLine> read_delivery(Connection& connection, DeliveryKey key);

}  // namespace baton::store::sql
