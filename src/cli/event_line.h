// Formats an event of a task's log (server/show/event_json.h) as a line for people: its number, its time of
// day in UTC, its type, and as much of its content as fits.
//
// Pure. Text from the server is made harmless (printable.h).
#pragma once

#include <cstddef>
#include <string>

#include "json/document.h"

namespace baton::cli {

// The result ends with a line end.
std::string event_line(json::Value event, std::size_t columns);

}  // namespace baton::cli
