// What a MemoryStore reads off a task's log.
//
// Threads: pure.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "store/task_store.h"
#include "task/apply.h"
#include "task/event.h"

namespace baton::store::memory {

using Log = std::span<const task::EventPtr>;

bool is_stop(const task::EventPtr& event);

// Where the artifacts of a task are after its log.
task::ArtifactPlaces places_of(Log log);

// A task's log, in a context.
struct Chapter {
  task::TaskKey task;
  std::vector<task::EventPtr> log;
};
// As TaskStore::context.
ContextRecord read_context(const std::vector<Chapter>& chapters, task::TaskKey task,
                           task::EventNumber unanswered, int limit);

}  // namespace baton::store::memory
