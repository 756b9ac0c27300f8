// Prepares the writing connection of a database that was just opened.
#pragma once

#include "base/clock.h"
#include "base/error.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/sqlite_store.h"

namespace baton::store::sqlite {

// Brings the schema up to date, moves an earlier run's log into the database, and corrects times of a clock
// that was ahead. Fails as SqliteStore::open does; throws SQLite::Exception.
base::Result<void> set_up(Connection& writer, const SqliteOptions& options, const base::Clock& clock);

}  // namespace baton::store::sqlite
