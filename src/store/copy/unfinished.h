// An unfinished copy: a database with the table `unfinished_copy`, which the copy makes first and drops last.
// No server uses such a database.
#pragma once

#include "base/error.h"
#include "store/sql/connection.h"

namespace baton::store::copy {

inline constexpr char kUnfinishedTable[] = "unfinished_copy";

// Whether a table that is copied has other rows than those that migrations make. Throws sql::Failure.
bool has_rows(sql::Connection& connection);

// Why nobody but the copy uses this database, which is one. Throws sql::Failure.
base::Error unfinished_error(sql::Connection& connection);
base::Error unfinished_error(const std::string& source);

// Why a database is no place for a copy.
base::Error not_empty();
// Why a database is not copied from.
base::Error is_older();

}  // namespace baton::store::copy
