// Logs the events of tasks, for authors of agents who watch them in a terminal (--dev).
//
// Threads: any.
#pragma once

#include "store/task_store.h"

namespace baton::app {

// Logs a line at level info for each event of the change that is of interest to people.
void log_task(const store::Committed& committed);

}  // namespace baton::app
