// Copies, checks and measures a database that a server may be using at the same time.
//
// Each function reads in one snapshot. Until the snapshot ends, the server's write-ahead log cannot start
// over.
// Threads: any. Blocks. Errors are meant for the user of the command: their for_log names the file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "store/sqlite/connection.h"

namespace baton::store::sqlite {

// Opens a connection for reading. Fails with not_found, invalid_argument (not a database of Baton),
// unsupported (the tables of another version).
base::Result<std::unique_ptr<Connection>> open_newest(const std::string& database);

// Copies a snapshot of the database to a new file that only its owner may read, flushes it to the disk, and
// returns its size. Fails with already_exists, not_found, unavailable; then there is no new file.
base::Result<std::int64_t> back_up(const std::string& database, const std::string& copy);

// Returns the database's faults, by SQLite's own check and by the promises of schema/TABLES.md; empty if it
// has none. Fails as open_newest does, and if the database cannot be read.
base::Result<std::vector<std::string>> check(const std::string& database);

// Names and values of measurements, for people and programs.
using Figures = std::vector<std::pair<std::string, std::int64_t>>;
// Fails as `check` does.
base::Result<Figures> measure(const std::string& database);

// Flushes a new file and its entry in the folder. Returns whether both survive a power failure from now on.
bool flush_with_folder(const std::string& file);

}  // namespace baton::store::sqlite
