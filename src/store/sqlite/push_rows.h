// Rows of `push_configs` and `deliveries`. Everything throws SQLite::Exception.
#pragma once

#include <optional>
#include <vector>

#include "base/error.h"
#include "store/sqlite/write_state.h"
#include "store/task_store.h"

namespace baton::store::sqlite {

// too_large if it would be one more than `configs_max`.
base::Result<void> check_room(WriteState& state, KnownTask& task, const task::PushConfigId& id,
                              int configs_max);
// Sets a config of the task, replacing the one of the same id, whose key it then has.
void put_config(WriteState& state, KnownTask& task, const task::PushConfig& config);
// Checks, then sets; task_not_found.
base::Result<void> set_config(WriteState& state, task::TaskKey key, const task::PushConfig& config,
                              int configs_max);
// With all its deliveries. A task without such a config is left as it is; task_not_found.
base::Result<void> delete_config(WriteState& state, task::TaskKey key, const task::PushConfigId& id);
base::Result<std::vector<task::PushConfig>> configs_of(Connection& connection, task::TaskKey key);

// Writes a delivery of this event for each config of the task that hears of it. Returns how many.
int add_deliveries(WriteState& state, KnownTask& task, task::EventNumber event, const task::EventBody& body,
                   base::Timestamp at);
// Nothing happens if it is gone; not_found if it is not the first waiting one of its config.
base::Result<void> record_result(WriteState& state, const DeliveryResult& result);

// Where more are due than `limit`, the callers (each in all its tenants) share the places, so that none hides
// the others'. That reads everything that is due.
base::Result<std::vector<Delivery>> due_deliveries(Connection& connection, base::Timestamp now, int limit);
// Deliveries that were made after `now`, or are due after `latest`, are made and due at `now`.
void pull_in_deliveries(Connection& connection, base::Timestamp now, base::Timestamp latest);
std::optional<base::Timestamp> next_due(Connection& connection);
DeliveryStore::Counts delivery_counts(Connection& connection);

}  // namespace baton::store::sqlite
