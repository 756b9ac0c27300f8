// The stored form of a task's budget: compact JSON. Names may be added but never changed: stored data
// contains them.
#pragma once

#include <string>
#include <string_view>

#include "task/budget.h"

namespace baton::store::codec {

std::string encode_budget(const task::Budget& budget);

// Any text that `encode_budget` does not write is read as a budget without limits.
task::Budget decode_budget(std::string_view text);

}  // namespace baton::store::codec
