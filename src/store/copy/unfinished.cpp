#include "store/copy/unfinished.h"

#include <algorithm>
#include <string>
#include <vector>

#include "store/copy/tables.h"

namespace baton::store::copy {
namespace {

using base::ErrorCode;

// Static, because connections identify statements by their address.
const std::vector<std::string>& statements_that_count() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> made;
    for (const Table& table : tables()) {
      made.push_back("SELECT count(*) FROM (SELECT 1 FROM " + table.name + " LIMIT 2) AS found");
    }
    return made;
  }();
  return all;
}

}  // namespace

bool has_rows(sql::Connection& connection) {
  auto statement = statements_that_count().begin();
  return std::ranges::any_of(tables(), [&](const Table& table) {
    sql::Query query = connection.query((statement++)->c_str());
    return query.step() && query.integer(0) > table.rows_at_start;
  });
}

base::Error unfinished_error(sql::Connection& connection) {
  sql::Query query = connection.query("SELECT source FROM unfinished_copy");
  return unfinished_error(query.step() ? query.text(0) : std::string());
}

base::Error unfinished_error(const std::string& source) {
  return {ErrorCode::conflict,
          "this is an unfinished copy of " + source +
              ": finish it by running `baton db copy` with the same two databases, or remove it",
          {}};
}

base::Error not_empty() {
  return {ErrorCode::already_exists, "is not empty: copy to a new or empty database", {}};
}

base::Error is_older() {
  return {ErrorCode::unsupported,
          "has the tables of an earlier version: upgrade it by starting and stopping this version of `baton "
          "serve` on it once",
          {}};
}

}  // namespace baton::store::copy
