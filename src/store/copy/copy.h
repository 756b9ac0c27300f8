// Copies all of a database into another one, of the same or another kind, table by table in the order of
// their keys. The target then continues where the source stopped, turns and webhooks included.
//
// Rows and their count and digest are committed together, in batches. So a copy that was interrupted in any
// way continues from its last batch when it is started again.
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
  bool is_equal = false;  // both have the same number of rows and the same digest
};

// Calls `on_table` for each table once all tables are copied. Fails with internal if a table is not equal,
// and with conflict if the target is an unfinished copy of another database, or of this one before it
// changed. In these cases the target stays an unfinished copy.
base::Result<void> copy(Source& source, Target& target, const std::function<void(const Compared&)>& on_table);

}  // namespace baton::store::copy
