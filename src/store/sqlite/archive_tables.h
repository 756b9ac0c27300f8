// The tables whose rows are in an archive's lines. The members have the names of the columns. Keys are left
// out, because the import makes new ones.
#pragma once

#include "store/copy/tables.h"

namespace baton::store::sqlite {

inline constexpr int kArchiveVersion = 1;

struct ArchiveTables {
  copy::Table tasks = copy::table_without("tasks", {"task_key", "context_key", "parent_key", "indexed"});
  copy::Table requests = copy::table_without("turn_requests", {"task_key"});
  copy::Table webhooks = copy::table_without("push_configs", {"config_key", "task_key"});
};

}  // namespace baton::store::sqlite
