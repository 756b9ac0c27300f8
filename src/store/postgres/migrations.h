// Migrations: makes the tables of an empty schema, and upgrades older ones to the newest.
//
// One whose name begins with "add_" ("postgres/0005_add_lag.sql") only adds what programs of older versions
// need not know of: it is applied while they serve, and they may start on it.
#pragma once

#include <functional>
#include <vector>

#include "base/clock.h"
#include "base/embedded.h"
#include "base/error.h"
#include "store/postgres/lane/link.h"

namespace baton::store::postgres {

// Applies the missing `files` ("postgres/NNNN_name.sql", in order), each in one transaction, one program at a
// time. Refuses, without touching it, a schema with other tables (invalid_argument), or of a newer Baton
// (unsupported). Calls `on_upgrade` before it upgrades a schema that has tables. Throws sql::Failure; it is
// unavailable if others use the tables for long.
base::Result<void> migrate(Link& link, const std::vector<base::EmbeddedFile>& files, base::Timestamp now,
                           const std::function<void(int from, int to)>& on_upgrade);

// Whether the schema has no tables. Throws sql::Failure, as what follows.
bool is_new(Link& link);

// fit: all of `files` are applied, and perhaps additions of a newer Baton. lack_additions: all but some that
// add. are_older: `migrate` needs the schema for itself.
enum class Tables { fit, lack_additions, are_older };
// Fails as `migrate` does, but for those of a newer Baton that only has additions.
base::Result<Tables> state_of_tables(Link& link, const std::vector<base::EmbeddedFile>& files);

// The same for what may not be upgraded: fails with invalid_argument or unsupported.
base::Result<void> check_newest(Link& link, const std::vector<base::EmbeddedFile>& files);

}  // namespace baton::store::postgres
