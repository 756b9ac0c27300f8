// The numbered SQL files of a database's schema, "sqlite/0001_initial.sql", as they are embedded.
#pragma once

#include <string_view>
#include <vector>

#include "base/embedded.h"

namespace baton::store::sql {

// Returns a migration's number: 1 for "sqlite/0001_initial.sql" in the folder "sqlite/". Returns 0 for a file
// that is not a migration in the folder.
int migration_number(const base::EmbeddedFile& file, std::string_view folder);

// The highest number of the folder's migrations.
int newest_migration(const std::vector<base::EmbeddedFile>& files, std::string_view folder);

}  // namespace baton::store::sql
