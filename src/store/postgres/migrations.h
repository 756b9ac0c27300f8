// Migrations: makes the tables of an empty schema, and upgrades older ones to the newest.
//
// A migration whose name begins with "add_" ("postgres/0006_add_titles.sql") only adds things that programs
// of older versions need not know. It is applied while they serve, and they may start with it.
#pragma once

#include <functional>
#include <vector>

#include "base/clock.h"
#include "base/embedded.h"
#include "base/error.h"
#include "store/postgres/lane/link.h"

namespace baton::store::postgres {

// Applies the missing `files` ("postgres/NNNN_name.sql", in order), each in one transaction, one program at a
// time. Refuses a schema with other tables (invalid_argument), or of a newer Baton (unsupported), and leaves
// it unchanged. Calls `on_upgrade` before it upgrades a schema that has tables. Throws sql::Failure, with
// unavailable if other sessions use the tables for long.
base::Result<void> migrate(Link& link, const std::vector<base::EmbeddedFile>& files, base::Timestamp now,
                           const std::function<void(int from, int to)>& on_upgrade);

// Whether the schema has no tables. This and the following functions throw sql::Failure.
bool is_new(Link& link);

// fit: all of `files` are applied, and perhaps additions of a newer Baton. lack_additions: only additions are
// missing. are_older: other migrations are missing, so `migrate` needs the schema alone.
enum class Tables { fit, lack_additions, are_older };
// Fails as `migrate` does, but accepts tables of a newer Baton that only has additions.
base::Result<Tables> state_of_tables(Link& link, const std::vector<base::EmbeddedFile>& files);

// Checks that the schema is the newest, for callers that must not upgrade it. Fails with invalid_argument or
// unsupported.
base::Result<void> check_newest(Link& link, const std::vector<base::EmbeddedFile>& files);

}  // namespace baton::store::postgres
