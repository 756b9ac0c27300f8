// An event of a task's log as operators see it: all of it, but for content that would not fit a page.
//
// Threads: any; no state.
#pragma once

#include <cstddef>
#include <string>

#include "task/event.h"

namespace baton::server::operate {

// Of one event; what is above it is cut off and counted.
inline constexpr std::size_t kEventContentMax = 16 << 10;

// Appends the event as an object of the API's description.
void append_event(std::string& out, const task::Event& event);

}  // namespace baton::server::operate
