// JSON Patch (RFC 6902): checks that operations are complete. Does not apply them.
//
// Threads: pure functions.
#pragma once

#include <string>

#include "json/document.h"

namespace baton::json {

// Returns empty if `patch` is a list of complete operations, otherwise the problem: "must be ..." or "has
// ...".
std::string patch_problem(Value patch);
// Whether a JSON text is a list of complete operations.
bool is_patch(const task::Json& json);

}  // namespace baton::json
