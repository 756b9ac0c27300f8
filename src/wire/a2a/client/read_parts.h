// Reads parts before 1.0 in answers of remote agents.
#pragma once

#include "base/error.h"
#include "task/message.h"
#include "wire/json/document.h"

namespace baton::wire::a2a {

// Goes by content, not by tag: servers of 0.1 wrote the tag as `type`, as `kind` or not at all. `nested`:
// data is {"data": {...}}. Errors name members within the part.
base::Result<task::Part> read_part_before_v1(Value part, bool nested);

}  // namespace baton::wire::a2a
