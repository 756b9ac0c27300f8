// The meaning of TaskFilters and of the lines of operators' lists, shared by all OperatorStores. Pure.
#pragma once

#include <string>
#include <string_view>

#include "store/operator_store.h"

namespace baton::store {

// Whether operators see the task in lists: hidden ones only while they have a turn.
bool is_listed(const task::TaskHead& head);
// Whether `caller` is the one that a filter names. A name without a tenant matches the caller in every
// tenant.
bool is_of(const task::Caller& caller, const task::Caller& named);
// Whether the head passes the filter. The filter's schedule, `undelivered`, `retried` and `error` are not
// checked here, because the head does not have this data.
bool passes(const TaskFilter& filter, const task::TaskHead& head);
// Whether `filter` selects only by states, agent, caller and having a turn.
bool is_counted(const TaskFilter& filter);
// Whether a task with a turn can pass. Such a task has not ended.
bool may_have_turn(const TaskFilter& filter);

// The text of a status, cut to kLineTextMax bytes.
std::string line_text(const task::EventBody& status);
// Whether the text contains `words`, ignoring the case of ASCII letters.
bool has_words(std::string_view text, std::string_view words);

// Returns the entry of a change to this task, with the fields about the task filled in.
task::AuditEntry with_subject(task::AuditEntry entry, const task::TaskHead& head);

// Whether the entry is a successful retry, and the task that it created, read from the entry's detail.
bool is_done_retry(const task::AuditEntry& entry);
task::TaskKey made_by_retry(std::string_view detail);

inline TaskPlace place_of(const task::TaskHead& head) {
  return {head.status_at, head.key};
}
// Whether a list that is read in this order shows `a` before `b`.
inline bool comes_first(const TaskPlace& a, const TaskPlace& b, bool oldest_first) {
  return oldest_first ? a < b : b < a;
}

}  // namespace baton::store
