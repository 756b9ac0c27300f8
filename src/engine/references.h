// The tasks a message refers to (A2A: referenceTaskIds), as an agent is told of them.
//
// Threads: any. Blocks on the disk.
#pragma once

#include "store/task_store.h"

namespace baton::engine {

struct ReferenceBounds {
  int tasks;
  int history;        // messages of each, the newest
  std::size_t bytes;  // of all together
};

// Those of the message's reference tasks that `head`'s caller has at its agent, in the order in which they
// are named; others, and the task itself, are left out. What is over a bound is left out too: of a task
// first its oldest messages, then its last artifacts.
base::Result<std::vector<task::Task>> referenced_tasks(const store::TaskStore& store,
                                                       const task::TaskHead& head,
                                                       const task::Message& message,
                                                       const ReferenceBounds& bounds);

}  // namespace baton::engine
