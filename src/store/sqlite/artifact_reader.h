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

// One artifact from its event `begin` on, up to `as_of`.
base::Result<task::Artifact> read_artifact(Connection& connection, task::TaskKey key, int ordinal,
                                           task::EventNumber begin, task::EventNumber as_of);

}  // namespace baton::store::sqlite
