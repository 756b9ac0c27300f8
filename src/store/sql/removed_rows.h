// Removes tasks: deletes their rows in every table but `sends`. Everything throws sql::Failure.
#pragma once

#include <cstdint>
#include <vector>

#include "store/retention_store.h"
#include "store/sql/write_state.h"

namespace baton::store::sql {

// Implement the functions of RetentionStore.
task::TaskKey last_made(Connection& connection, base::Timestamp time);
base::Result<std::vector<TreeMember>> read_tree(Connection& connection, task::TaskKey root, int most);
base::Result<std::vector<Removed>> remove_tasks(WriteState& state, const Removal& removal);
bool tidy(WriteState& state, std::int64_t spare_pages);

}  // namespace baton::store::sql
