// What becomes of tasks, as lines of the log: for authors of agents, who watch them in a terminal (--dev).
//
// Threads: any.
#pragma once

#include "store/task_store.h"

namespace baton::app {

// A line at level info for each event of the change that says something to people.
void log_task(const store::Committed& committed);

}  // namespace baton::app
