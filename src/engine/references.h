// The tasks that a message refers to (A2A: referenceTaskIds), as its agent gets them.
//
// Threads: any. Blocks on the disk.
#pragma once

#include "engine/task_reader.h"

namespace baton::engine {

struct ReferenceBounds {
  int tasks;
  int history;        // the newest messages of each task
  std::size_t bytes;  // of all tasks together
};

// Returns the referenced tasks that belong to `head`'s caller and agent, in the order named; leaves out
// others and the task itself. What exceeds a bound is left out too: a task loses its oldest messages first,
// then its last artifacts.
base::Result<std::vector<task::Task>> referenced_tasks(const TaskReader& reader, const task::TaskHead& head,
                                                       const task::Message& message,
                                                       const ReferenceBounds& bounds);

}  // namespace baton::engine
