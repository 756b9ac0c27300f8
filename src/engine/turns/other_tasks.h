// Other tasks that an agent is told of when its turn begins: those that its message refers to (A2A:
// referenceTaskIds), and what its children have answered.
//
// Threads: any. Blocks on the disk.
#pragma once

#include "agents/executor.h"
#include "engine/read/task_reader.h"

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

// Why a task that has ended did not complete: what it said, or else its state. Empty if it did, or waits.
std::string failure_of(const task::Status& status);
// The result of what was delegated under this name: the child as it has stopped.
agents::DelegateResult result_of(const std::string& call, task::Task child);

// Returns the results of what was delegated, of each name (Subagent::call) the last: the child as it has
// stopped or, where it works again, as it was when it stopped; or why there is none. A result that takes all
// of them past `depth.bytes_max` is replaced by an error. `delegated`: as in TurnLog.
base::Result<std::vector<agents::DelegateResult>> child_results(const TaskReader& reader,
                                                                const std::vector<task::Subagent>& delegated,
                                                                const task::Depth& depth);

}  // namespace baton::engine
