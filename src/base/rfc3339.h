// RFC 3339 timestamps as clients write them.
#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"

namespace baton::base {

// Accepts any offset (none means UTC), any number of fraction digits (rounded up to milliseconds), and `T`,
// `t` or a blank between date and time. Returns nothing for anything else, leap seconds included.
std::optional<base::Timestamp> parse_rfc3339(std::string_view text);

}  // namespace baton::base
