// Rows of `push_configs` and `deliveries`. Everything throws sql::Failure.
#pragma once

#include <optional>
#include <vector>

#include "base/error.h"
#include "store/sql/write_state.h"
#include "store/task_store.h"

namespace baton::store::sql {

// Fails with too_large if a config with this id would exceed `configs_max`.
base::Result<void> check_room(WriteState& state, TaskRow& task, const task::PushConfigId& id,
                              int configs_max);
// Adds a config, or replaces the one with the same id and keeps its key.
void put_config(WriteState& state, TaskRow& task, const task::PushConfig& config);
// Also deletes its deliveries. No-op if the task has no such config.
void drop_config(WriteState& state, TaskRow& task, const task::PushConfigId& id);
base::Result<std::vector<task::PushConfig>> configs_of(Connection& connection, task::TaskKey key);

// Inserts a delivery of this event for each config that receives it. Returns their number.
int add_deliveries(WriteState& state, TaskRow& task, task::EventNumber event, const task::EventBody& body,
                   base::Timestamp at);
// No-op if the delivery was deleted. Fails with not_found if it is not its config's first pending one.
base::Result<void> record_result(WriteState& state, const DeliveryResult& result);

// Returns the deliveries that this node must send. If more than `limit` are due, the callers (each with all
// its tenants) share the places, so that none starves the others; this reads all due deliveries of the node.
base::Result<std::vector<Delivery>> due_deliveries(Connection& connection, NodeId sender, base::Timestamp now,
                                                   int limit);
// Corrects times from a clock that was ahead. Pending deliveries created after `now` become created and due
// at `now`; those due after `latest` become due at `now`.
void pull_in_deliveries(Connection& connection, base::Timestamp now, base::Timestamp latest);
std::optional<base::Timestamp> next_due(Connection& connection, NodeId sender);
DeliveryStore::Counts delivery_counts(Connection& connection);

}  // namespace baton::store::sql
