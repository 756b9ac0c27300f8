// JSON Patch (RFC 6902): whether operations are complete, without a document to apply them to.
//
// Threads: pure functions.
#pragma once

#include <string>

#include "wire/json/document.h"

namespace baton::wire {

// Empty if `patch` is a list of complete operations; else what is wrong with it: "must be ..." or "has ...".
std::string patch_problem(Value patch);
// Whether a JSON text is such a list.
bool is_patch(const task::Json& json);

}  // namespace baton::wire
