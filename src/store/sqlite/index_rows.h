// Rows of the tables that tell which events of a task's log are what: `messages`, `artifacts`,
// `artifact_parts`, `stops`. A task gets them when its log grows long; while it is short, reading all of the
// log tells the same, and costs less than the rows.
//
// Threads: as the connection. Functions that take one throw SQLite::Exception.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "store/sqlite/connection.h"
#include "task/apply.h"
#include "task/event.h"

namespace baton::store::sqlite {

// Whether a log that ends there, and was not indexed before, must be from now on: it has more events than
// `events_max`, or one of these new bodies is large.
bool outgrows(task::EventNumber last, const std::vector<std::string>& bodies, int events_max);

void insert_artifact(Connection& connection, task::TaskKey key, int ordinal, const task::ArtifactId& id);
void insert_event_rows(Connection& connection, task::TaskKey key, task::EventNumber number,
                       const task::EventEffect& effect);

// What each event of a whole log leaves.
std::vector<task::EventEffect> effects_of(std::span<const task::EventPtr> log);
// The rows of a log that had none so far.
void index_log(Connection& connection, task::TaskKey key, std::span<const task::EventPtr> log);

// What artifacts a whole log leaves.
task::ArtifactPlaces artifacts_of(std::span<const task::EventPtr> log);
// Where the content of an artifact begins as the log leaves it; 0 if it has none or was withdrawn.
task::EventNumber begin_in(std::span<const task::EventPtr> log, int ordinal);

// The log of a task that is not indexed, up to an event. Fails as event_at does.
base::Result<std::vector<task::EventPtr>> read_short_log(Connection& connection, task::TaskKey key,
                                                         task::EventNumber last);

}  // namespace baton::store::sqlite
