// Parts before 1.0 in what remote agents answer.
#pragma once

#include "base/error.h"
#include "task/message.h"
#include "wire/json/document.h"

namespace baton::wire::a2a {

// By content and not by tag, which servers of 0.1 wrote as `type`, as `kind` or not at all. `nested`: data is
// {"data": {...}}. Errors name members within the part.
base::Result<task::Part> read_part_before_v1(Value part, bool nested);

}  // namespace baton::wire::a2a
