// Brings TaskRow::waiting up to date, for stores.
#pragma once

#include <span>

#include "store/task_store.h"

namespace baton::store {

// `events`: those that were added to the log since; `row.head` is the head after them. For a row that was
// just read: the whole log.
void note_waiting(TaskRow& row, std::span<const task::EventPtr> events);

}  // namespace baton::store
