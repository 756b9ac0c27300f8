// Puts artifacts and streamed replies together from their pieces.
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

// One artifact as its last events left it, if its content begins at this event: none if a later one made it
// begin anew or withdrew it.
base::Result<std::optional<task::Artifact>> read_artifact_if_begun(Connection& connection, task::TaskKey key,
                                                                   int ordinal, task::EventNumber begin);
// The same of a task that is not indexed.
base::Result<std::optional<task::Artifact>> short_artifact_if_begun(Connection& connection, task::TaskKey key,
                                                                    int ordinal, task::EventNumber begin);

}  // namespace baton::store::sqlite
