// Rows of a task's log: `events`, and `landmarks` and `artifacts`, the index rows of a long log. A short log
// has none, since reading all of it costs less than maintaining them. LogQuery reads both forms.
//
// Threads: as for Connection. Functions that take a connection throw sql::Failure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "store/sql/connection.h"
#include "task/apply.h"
#include "task/event.h"

namespace baton::store::sql {

// Bits of the event number in an event_key. Statements that join `events` spell it out.
inline constexpr int kNumberBits = 28;
static_assert(task::kLogEnd.value == (std::int64_t{1} << kNumberBits) - 1);

// The key of an event in `events`, ordered by task, then number. A number outside the valid range gives the
// position next to the task's events. A SQLite file reaches its size limit long before task keys overflow.
constexpr std::int64_t event_key(task::TaskKey task, task::EventNumber number) {
  return (task.value << kNumberBits) + std::clamp<std::int64_t>(number.value, 0, task::kLogEnd.value);
}

// Whether the log has index rows; false if there is no such task.
bool is_indexed(Connection& connection, task::TaskKey key);

// The events of one log from `first` to `last`. A connection must not run two queries of the same kind at a
// time.
class LogQuery {
 public:
  struct Range {
    task::EventNumber first{1}, last = task::kLogEnd;
  };
  static LogQuery all(Connection& connection, task::TaskKey key, Range range);
  // The last status.
  static LogQuery status(Connection& connection, task::TaskKey key, Range range);
  // The events that belong to the history or stop the task.
  static LogQuery landmarks(Connection& connection, task::TaskKey key, Range range);
  // The same events, newest first.
  static LogQuery landmarks_back(Connection& connection, task::TaskKey key, Range range);
  // The events that a Conversation uses, newest first.
  static LogQuery conversation_back(Connection& connection, task::TaskKey key, Range range);

  // Returns the next event, or null at the end. Fails with internal if the row is damaged.
  base::Result<task::EventPtr> next();
  // Like `next`, but returns the event by value; nullopt at the end.
  base::Result<std::optional<task::Event>> next_own();

 private:
  LogQuery(Connection& connection, const char* sql, task::TaskKey key, Range range, bool only_landmarks)
      : query_(connection.scan(sql, event_key(key, range.first), event_key(key, range.last))),
        only_landmarks_(only_landmarks) {}

  Query query_;
  const bool only_landmarks_;
};

// Reads the whole log, or the log up to event `last`.
base::Result<std::vector<task::EventPtr>> read_log(Connection& connection, task::TaskKey key,
                                                   task::EventNumber last = task::kLogEnd);

// The place of one artifact of a long log.
std::optional<task::ArtifactPlace> find_artifact(Connection& connection, task::TaskKey key,
                                                 const task::ArtifactId& id);

// Inserts the events that follow `before`; `encoded` are their bodies.
void insert_events(Connection& connection, task::TaskKey key, task::EventNumber before,
                   const std::vector<task::EventBody>& bodies, const std::vector<std::string>& encoded,
                   base::Timestamp at);

// Whether a log without index rows that now ends at `last` needs them: it has more than `events_max` events,
// or one of these new bodies is large.
bool outgrows(task::EventNumber last, const std::vector<std::string>& bodies, int events_max);
// Inserts the index row of an event, if it has one.
void insert_landmark(Connection& connection, task::TaskKey key, task::EventNumber number,
                     const task::EventBody& body);
// Writes the places of artifacts that differ from those in `before`.
void write_artifacts(Connection& connection, task::TaskKey key, const task::ArtifactPlaces& before,
                     const task::ArtifactPlaces& after);
// Inserts the index rows of a log that had none.
void index_log(Connection& connection, task::TaskKey key, std::span<const task::EventPtr> log);

}  // namespace baton::store::sql
