// Brings a database to the newest schema.
#pragma once

#include <functional>
#include <vector>

#include "base/clock.h"
#include "base/embedded.h"
#include "base/error.h"
#include "store/sqlite/connection.h"

namespace baton::store::sqlite {

// Applies what is missing of `files` ("sqlite/NNNN_name.sql", in order), each in one transaction. Refuses,
// without touching it, a database of another program (invalid_argument) or of a newer Baton (unsupported).
// `on_upgrade` hears first, of an older database, from which schema to which. Throws SQLite::Exception.
base::Result<void> migrate(Connection& connection, const std::vector<base::EmbeddedFile>& files,
                           base::Timestamp now, const std::function<void(int, int)>& on_upgrade = nullptr);

}  // namespace baton::store::sqlite
