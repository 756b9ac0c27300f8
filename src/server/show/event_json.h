// Events of a task's log as JSON, in the form that the operator API's description gives (schema/).
//
// Threads: any; no state.
#pragma once

#include <cstddef>
#include <string>

#include "base/error.h"
#include "server/shared/services.h"
#include "task/event.h"

namespace baton::server {

// The maximum content of one event, in bytes. Longer content is cut, and the event has the number of bytes
// that were cut (`cutBytes`).
inline constexpr std::size_t kEventContentMax = 16 << 10;

// The readers of a log. Callers see no interventions of operators, no private state of agents and no keys of
// tasks.
enum class LogReaders { operators, callers };

// Appends the event as an object. Returns false, and appends nothing, if it is not for the readers.
bool append_event(std::string& out, const task::Event& event, LogReaders readers = LogReaders::operators);

struct LogWindow {
  task::EventNumber after;
  int limit = 500;
  std::size_t bytes_max = 4 << 20;  // of JSON; the page of the store that reaches it is the last
};
struct LogPiece {
  std::string events = "[]";  // an array
  task::EventNumber first;    // the first one that was read, shown or not; 0: none
  task::EventNumber through;  // the last one that was read, shown or not
};
// Reads a part of a task's log. Blocks on the store.
base::Result<LogPiece> read_log(const Services& services, task::TaskKey task, const LogWindow& window,
                                LogReaders readers = LogReaders::operators);

}  // namespace baton::server
