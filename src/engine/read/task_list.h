// One page of a caller's tasks.
//
// Threads: any. Blocks on the disk.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/read/task_reader.h"

namespace baton::engine {

// Newest status first.
struct TaskList {
  std::vector<task::Task> tasks;
  std::int64_t total = 0;                  // on all pages
  std::optional<task::ListPosition> next;  // the next page begins after it; unset on the last page
};

// Returns at most filter.limit tasks and about 16 MiB; fails with too_large past depth.bytes_max. `depth`
// says how much of each task.
base::Result<TaskList> list_tasks(const TaskReader& reader, const task::ListFilter& filter,
                                  const task::Depth& depth);

}  // namespace baton::engine
