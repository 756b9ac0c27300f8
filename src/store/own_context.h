// The id of a context that is made for a task whose own id was made here. It follows from the task's id, so
// that while the task is the context's only one nothing need be kept about the context.
#pragma once

#include <optional>

#include "task/ids.h"

namespace baton::store {

// Empty if the task's id is none of base::make_uuid.
task::ContextId own_context(const task::TaskId& id);
// The task whose own context has this id, if it can be one's.
std::optional<task::TaskId> task_of_own_context(const task::ContextId& id);

}  // namespace baton::store
