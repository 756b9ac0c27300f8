// Whether a JSON text is a patch as AG-UI 1.0 insists on it: complete RFC 6902 operations whose paths are
// JSON Pointers. A client of 1.0 fails the whole run for any other.
//
// Threads: pure functions.
#pragma once

#include "task/json.h"

namespace baton::wire::agui {

bool is_patch(const task::Json& json);

}  // namespace baton::wire::agui
