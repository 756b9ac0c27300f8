// Rows of `audit`, `agent_controls`, `bulk_jobs` and `bulk_items`. Everything throws sql::Failure.
#pragma once

#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "store/operator_store.h"
#include "store/sql/connection.h"

namespace baton::store::sql {

// Inserts the entry. If it has a job, also notes the outcome of the job's item, once.
void insert_audit(Connection& connection, const task::AuditEntry& entry, base::Timestamp at);
base::Result<void> write_for_operator(Connection& connection, const OperatorWrite& write, base::Timestamp at);

AuditPage read_audit(Connection& connection, const AuditFilter& filter, std::int64_t before, int limit);
std::vector<AgentControl> read_controls(Connection& connection);
std::vector<BulkJob> read_jobs(Connection& connection, int limit);
base::Result<BulkJob> read_job(Connection& connection, task::BulkJobKey key);
std::vector<BulkItem> read_items(Connection& connection, task::BulkJobKey job, task::TaskKey after, int limit,
                                 bool open);

}  // namespace baton::store::sql
