// Assembles artifacts and streamed replies from their parts in the log.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "store/sqlite/connection.h"
#include "task/event.h"

namespace baton::store::sqlite {

// The artifacts of a task as they were just after event `as_of`, in the order of their ordinals. Throws
// SQLite::Exception.
base::Result<std::vector<task::Artifact>> read_artifacts(Connection& connection, task::TaskKey key,
                                                         task::EventNumber as_of);

// The latest state of an artifact whose content begins at this event; empty if a later event restarted or
// withdrew it.
base::Result<std::optional<task::Artifact>> read_artifact_if_begun(Connection& connection, task::TaskKey key,
                                                                   int ordinal, task::EventNumber begin);
// The same for a task without index rows.
base::Result<std::optional<task::Artifact>> short_artifact_if_begun(Connection& connection, task::TaskKey key,
                                                                    int ordinal, task::EventNumber begin);

}  // namespace baton::store::sqlite
