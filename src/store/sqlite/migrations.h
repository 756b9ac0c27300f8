// Migrations: upgrades a database to the newest schema.
#pragma once

#include <functional>
#include <vector>

#include "base/clock.h"
#include "base/embedded.h"
#include "base/error.h"
#include "store/sqlite/connection.h"

namespace baton::store::sqlite {

using MayUpgrade = std::function<base::Result<void>(int from, int to)>;

// Applies the missing `files` ("sqlite/NNNN_name.sql", in order), each in one transaction. Refuses, without
// touching it, a database of another program (invalid_argument) or of a newer Baton (unsupported). Before an
// older database is upgraded, `may_upgrade` is asked. Throws SQLite::Exception.
base::Result<void> migrate(Connection& connection, const std::vector<base::EmbeddedFile>& files,
                           base::Timestamp now, const MayUpgrade& may_upgrade = nullptr);

}  // namespace baton::store::sqlite
