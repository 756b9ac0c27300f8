// Adds an operator's action to a change. Pure.
#pragma once

#include <memory>

#include "task/change.h"

namespace baton::engine {

// Adds the audit entry and the event for the task's log. `detail`: the event's; empty: the entry's.
inline void note_intervention(task::Change& change, const task::AuditEntry& entry, std::string detail = {}) {
  change.audit = std::make_shared<const task::AuditEntry>(entry);
  if (detail.empty()) detail = entry.detail;
  change.events.push_back(task::Intervention{entry.actor, entry.action, entry.reason, std::move(detail)});
}

}  // namespace baton::engine
