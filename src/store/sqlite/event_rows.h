// Rows of `events` to values.
#pragma once

#include <limits>

#include "base/error.h"
#include "store/sqlite/connection.h"
#include "task/event.h"

namespace baton::store::sqlite {

// After every event there can be.
inline constexpr task::EventNumber kLogEnd{std::numeric_limits<std::int64_t>::max()};

// Reads the columns "number, kind, at_ms, body" that begin at `column`.
base::Result<task::Event> event_at(const Query& query, int column);

// The message an event brings: its own, or that of the status it sets.
base::Result<task::Message> message_of(task::Event&& event);

}  // namespace baton::store::sqlite
