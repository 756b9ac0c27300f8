// Migrations: makes the tables of a new database, and upgrades an older one to the newest schema.
#pragma once

#include <functional>
#include <vector>

#include "base/clock.h"
#include "base/embedded.h"
#include "base/error.h"
#include "store/sqlite/connection.h"

namespace baton::store::sqlite {

using OnUpgrade = std::function<void(int from, int to)>;

// Applies the missing `files` ("sqlite/NNNN_name.sql", in order), each in one transaction. Refuses a database
// of another program (invalid_argument), of a newer Baton, or with the schema before the current series of
// migrations (both unsupported), and leaves it unchanged. Calls `on_upgrade` before it upgrades a database
// that has tables. Throws SQLite::Exception.
base::Result<void> migrate(Connection& connection, const std::vector<base::EmbeddedFile>& files,
                           base::Timestamp now, const OnUpgrade& on_upgrade = nullptr);

// Whether the database is empty, without tables. This and the following functions throw SQLite::Exception.
bool is_new(Connection& connection);

// Checks that it is a database of Baton with all of `files` applied. Fails with invalid_argument or
// unsupported.
base::Result<void> check_newest(Connection& connection, const std::vector<base::EmbeddedFile>& files);

bool has_table(Connection& connection, const char* name);

}  // namespace baton::store::sqlite
