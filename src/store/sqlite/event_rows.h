// Decodes rows of `events`.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/error.h"
#include "store/sqlite/connection.h"
#include "task/apply.h"
#include "task/event.h"

namespace baton::store::sqlite {

// Bits of the event number in an event_key, as in 0008_event_keys.sql. Statements that join `events` spell it
// out.
inline constexpr int kNumberBits = 28;
static_assert(task::kLogEnd.value == (std::int64_t{1} << kNumberBits) - 1);

// The key of an event in `events`, ordered by task, then number. A number outside the valid range gives the
// position next to the task's events. A SQLite file reaches its size limit long before task keys overflow.
constexpr std::int64_t event_key(task::TaskKey task, task::EventNumber number) {
  return (task.value << kNumberBits) + std::clamp<std::int64_t>(number.value, 0, task::kLogEnd.value);
}

// The number of the event whose event_key is in this column.
task::EventNumber number_at(const Query& query, int column);

// Reads the columns "event_key, kind, at_ms, body" from `column` on.
base::Result<task::Event> event_at(const Query& query, int column);

// The message in an event: its own, or its status's.
base::Result<task::Message> message_of(task::Event&& event);

}  // namespace baton::store::sqlite
