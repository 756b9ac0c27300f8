// Works on a database from outside of the server that may be using it: copies, checks and measures it.
//
// Each reads in one snapshot, which keeps the server's write-ahead log from beginning anew until it ends.
// Threads: any. Blocks. Errors are for whoever runs the command: their for_log names the file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "store/sqlite/connection.h"

namespace baton::store::sqlite {

// A connection for reading. Fails with not_found, invalid_argument (it is not Baton's), unsupported (it has
// the tables of another version).
base::Result<std::unique_ptr<Connection>> open_newest(const std::string& database);

// Copies the database, as it is at one moment, to a new file that only its owner may read, flushed to the
// disk. Fails with already_exists, not_found, unavailable; then there is no new file. Returns its size.
base::Result<std::int64_t> back_up(const std::string& database, const std::string& copy);

// What is wrong with the database: SQLite's own check, and the promises of schema/README.md. Empty: nothing.
// Fails as open_newest does, and if it cannot be read.
base::Result<std::vector<std::string>> check(const std::string& database);

// Names and numbers, for people and programs.
using Figures = std::vector<std::pair<std::string, std::int64_t>>;
// Fails as `check` does.
base::Result<Figures> measure(const std::string& database);

// Whether a new file and its entry in the folder survive a power failure from now on.
bool flush_with_folder(const std::string& file);

}  // namespace baton::store::sqlite
