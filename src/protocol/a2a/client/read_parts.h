// Reads parts before 1.0 in answers of remote agents.
#pragma once

#include "base/error.h"
#include "json/document.h"
#include "task/message.h"

namespace baton::protocol::a2a {

// Goes by content, not by tag: servers of 0.1 wrote the tag as `type`, as `kind` or not at all. `nested`:
// data is {"data": {...}}. Errors name members within the part.
base::Result<task::Part> read_part_before_v1(json::Value part, bool nested);

}  // namespace baton::protocol::a2a
