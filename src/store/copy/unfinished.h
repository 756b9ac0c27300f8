// An unfinished copy: a database with the table `unfinished_copy`, which the copy creates first and drops
// last. Servers refuse such a database.
#pragma once

#include "base/error.h"
#include "store/sql/connection.h"

namespace baton::store::copy {

inline constexpr char kUnfinishedTable[] = "unfinished_copy";

// Whether a copied table has rows other than those that migrations insert. Throws sql::Failure.
bool has_rows(sql::Connection& connection);

// The error for opening a database that is an unfinished copy. Throws sql::Failure.
base::Error unfinished_error(sql::Connection& connection);
base::Error unfinished_error(const std::string& source);

// The error for a target that has rows.
base::Error not_empty();
// The error for a source with an older schema.
base::Error is_older();

}  // namespace baton::store::copy
