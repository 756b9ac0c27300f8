// Copies all of a database into another one, of the same or another kind, table by table in the order of
// their keys. The target then continues where the source stopped, turns and webhooks included.
//
// What the target has and what was counted of it is committed together, in batches: a copy that ended in any
// way goes on there when it is begun again.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/error.h"
#include "store/copy/side.h"

namespace baton::store::copy {

struct Compared {
  std::string table;
  std::int64_t rows = 0;  // of the source
  bool is_equal = false;  // both have as many rows with the same digest
};

// Calls `on_table` for each table once all are copied. Fails with internal if one is not equal, and with
// conflict if the target is an unfinished copy of another database, or of this one before it changed; then
// the target stays an unfinished copy.
base::Result<void> copy(Source& source, Target& target, const std::function<void(const Compared&)>& on_table);

}  // namespace baton::store::copy
