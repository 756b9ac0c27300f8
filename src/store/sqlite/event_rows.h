// Rows of `events` to values.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/error.h"
#include "store/sqlite/connection.h"
#include "task/apply.h"
#include "task/event.h"

namespace baton::store::sqlite {

// Of an event_key, as in 0008_event_keys.sql. Statements that join `events` spell it out.
inline constexpr int kNumberBits = 28;
static_assert(task::kLogEnd.value == (std::int64_t{1} << kNumberBits) - 1);

// Where an event is in `events`: task after task, each one's events in order. A number that no event has
// gives the place next to those of the task. A file of SQLite ends long before the keys of tasks do.
constexpr std::int64_t event_key(task::TaskKey task, task::EventNumber number) {
  return (task.value << kNumberBits) + std::clamp<std::int64_t>(number.value, 0, task::kLogEnd.value);
}

// Of the event whose event_key is in this column.
task::EventNumber number_at(const Query& query, int column);

// Reads the columns "event_key, kind, at_ms, body" that begin at `column`.
base::Result<task::Event> event_at(const Query& query, int column);

// The message an event brings: its own, or that of the status it sets.
base::Result<task::Message> message_of(task::Event&& event);

}  // namespace baton::store::sqlite
