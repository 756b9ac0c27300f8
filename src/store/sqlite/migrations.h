// Brings a database to the newest schema.
#pragma once

#include <vector>

#include "base/clock.h"
#include "base/embedded.h"
#include "base/error.h"
#include "store/sqlite/connection.h"

namespace baton::store::sqlite {

// Applies what is missing of `files` ("sqlite/NNNN_name.sql", in order), each in one transaction. Refuses,
// without touching it, a database of another program (invalid_argument) or of a newer Baton (unsupported).
// Throws SQLite::Exception.
base::Result<void> migrate(Connection& connection, const std::vector<base::EmbeddedFile>& files,
                           base::Timestamp now);

}  // namespace baton::store::sqlite
