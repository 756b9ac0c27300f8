// RFC 3339 timestamps as clients write them.
#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"

namespace baton::wire {

// Any offset, any number of fraction digits (what is finer than milliseconds is rounded up), `T`, `t` or a
// blank between date and time; without an offset it is UTC. Nothing for anything else, leap seconds included.
std::optional<base::Timestamp> parse_rfc3339(std::string_view text);

}  // namespace baton::wire
