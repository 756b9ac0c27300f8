// Reads the other tasks that an agent gets when its turn begins: those that its message refers to (A2A:
// referenceTaskIds), and the results of its children.
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
// others and the task itself. Content beyond a bound is left out too: a task loses its oldest messages first,
// then its last artifacts.
base::Result<std::vector<task::Task>> referenced_tasks(const TaskReader& reader, const task::TaskHead& head,
                                                       const task::Message& message,
                                                       const ReferenceBounds& bounds);

// Returns why an ended task did not complete: the text of its status, or the name of its state if there is no
// text. Empty if the task completed or has not ended. A text above 8 KiB is cut.
std::string failure_of(const task::Status& status);
// Returns the result of the delegation with this name, from the child as it stopped.
agents::DelegateResult result_of(const std::string& call, task::Task child);

// Returns one result for each name (Subagent::call), that of its last delegation: the child as it stopped, or
// the reason why there is no child. A child that works again is returned as it was when it stopped; one that
// has not stopped yet has no result. A result that takes all of them past `depth.bytes_max` is replaced by an
// error. `delegated`: as in TurnLog.
base::Result<std::vector<agents::DelegateResult>> child_results(const TaskReader& reader,
                                                                const std::vector<task::Subagent>& delegated,
                                                                const task::Depth& depth);

}  // namespace baton::engine
