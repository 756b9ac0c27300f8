// The stored form of a task's budget: compact JSON. The names are on users' disks: they may be added to,
// never changed.
#pragma once

#include <string>
#include <string_view>

#include "task/budget.h"

namespace baton::store::codec {

std::string encode_budget(const task::Budget& budget);

// Text that `encode_budget` does not write is a budget without bounds.
task::Budget decode_budget(std::string_view text);

}  // namespace baton::store::codec
