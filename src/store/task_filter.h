// What TaskFilters and the lines of operators' lists mean, for every OperatorStore. Pure.
#pragma once

#include <string>
#include <string_view>

#include "store/operator_store.h"

namespace baton::store {

// Whether operators see the task in lists: hidden ones only while they have a turn.
bool is_listed(const task::TaskHead& head);
// Whether this is the caller that a filter names.
bool is_of(const task::Caller& caller, const task::Caller& named);
// What the filter says of the head; its schedule, `undelivered`, `retried` and `error` are looked up
// elsewhere.
bool passes(const TaskFilter& filter, const task::TaskHead& head);
// Whether `filter` selects by no more than states, agent, caller and having a turn.
bool is_counted(const TaskFilter& filter);
// Whether a task with a turn can pass: none of those has ended.
bool may_have_turn(const TaskFilter& filter);

// The text of a status, cut to kLineTextMax bytes.
std::string line_text(const task::EventBody& status);
// Whether the text has these words, in any case of ASCII letters.
bool has_words(std::string_view text, std::string_view words);

// The entry of a change to this task, with what it leaves out.
task::AuditEntry with_subject(task::AuditEntry entry, const task::TaskHead& head);

// Whether somebody has sent the entry's task again, and what that has made, as the entry's detail names it.
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
