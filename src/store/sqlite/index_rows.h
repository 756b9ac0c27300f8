// Rows of the index tables over a task's log: `messages`, `artifacts`, `artifact_parts`, `stops`. A task gets
// them when its log grows long; reading a whole short log costs less than maintaining the rows.
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

// Whether a log without index rows that now ends at `last` needs them: it has more than `events_max` events,
// or one of these new bodies is large.
bool outgrows(task::EventNumber last, const std::vector<std::string>& bodies, int events_max);

void insert_artifact(Connection& connection, task::TaskKey key, int ordinal, const task::ArtifactId& id);
void insert_event_rows(Connection& connection, task::TaskKey key, task::EventNumber number,
                       const task::EventEffect& effect);

// The effect of each event of a whole log.
std::vector<task::EventEffect> effects_of(std::span<const task::EventPtr> log);
// Inserts the rows of a log that had none.
void index_log(Connection& connection, task::TaskKey key, std::span<const task::EventPtr> log);

// The artifacts that result from a whole log.
task::ArtifactPlaces artifacts_of(std::span<const task::EventPtr> log);
// The event at which an artifact's current content begins; 0 if it has none or was withdrawn.
task::EventNumber begin_in(std::span<const task::EventPtr> log, int ordinal);

// The log of a task without index rows, up to an event. Fails as event_at does.
base::Result<std::vector<task::EventPtr>> read_short_log(Connection& connection, task::TaskKey key,
                                                         task::EventNumber last);

}  // namespace baton::store::sqlite
