// Own context: the context created for a task with a generated id. Its id is derived from the task's id, so
// nothing need be stored about the context while the task is its only one.
#pragma once

#include <optional>

#include "task/ids.h"

namespace baton::store {

// Returns the id of the task's own context; empty if the task's id is not from base::make_uuid.
task::ContextId own_context(const task::TaskId& id);
// Returns the task whose own context would have this id; nullopt if the id does not have that form.
std::optional<task::TaskId> task_of_own_context(const task::ContextId& id);

}  // namespace baton::store
