#include "store/postgres/server_checks.h"

#include <algorithm>

namespace baton::store::postgres {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr int kOldest = 130'000;  // version 13

struct Refused {
  const char* name;  // as in PostgresOptions::allows
  const char* sql;   // returns true if the setting applies
  const char* why;   // the reason for refusing it, and what to do
};

constexpr Refused kRefused[] = {
    {"standby", "SELECT pg_is_in_recovery()",
     "the database server is a standby: use the primary, or add target_session_attrs=read-write to the URL"},
    {"fsync=off", "SELECT current_setting('fsync') = 'off'",
     "the database server does not flush to disk (fsync=off), so a power failure would lose tasks: set fsync "
     "= on in postgresql.conf"},
    {"full_page_writes=off", "SELECT current_setting('full_page_writes') = 'off'",
     "the database server does not write full pages (full_page_writes=off), so a power failure could corrupt "
     "its tables: set full_page_writes = on in postgresql.conf"},
    {"synchronous_commit=off", "SELECT current_setting('synchronous_commit') = 'off'",
     "the database server confirms changes before it flushes them (synchronous_commit=off), so a crash would "
     "lose tasks: set synchronous_commit = on for this role or in postgresql.conf"},
    {"encoding", "SELECT current_setting('server_encoding') <> 'UTF8'",
     "the database encoding is not UTF8: create a database with CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE "
     "template0"},
};

// The locks between programs are named after the schema. Without a schema no lock would ever be granted.
Result<void> check_schema(Link& link) {
  if (!link.ask_text("SELECT current_schema()").empty()) return {};
  const std::string path = link.ask_text("SELECT current_setting('search_path')");
  // PostgreSQL shows an empty list as a quoted empty name.
  if (path.find_first_not_of("\", ") == std::string::npos) {
    return fail(ErrorCode::invalid_argument,
                "no schema is selected because search_path is empty: add options=-csearch_path%3DSCHEMA to "
                "the URL, or use ALTER ROLE ... SET search_path");
  }
  return fail(ErrorCode::invalid_argument,
              "search_path is " + path +
                  ", but no such schema exists or the role may not use it: use CREATE SCHEMA or GRANT USAGE "
                  "ON SCHEMA, or change search_path");
}

}  // namespace

Result<void> check_server(Link& link, const std::vector<std::string>& allows) {
  if (link.server_version() < kOldest) {
    return fail(ErrorCode::unsupported, "the database server is older than PostgreSQL 13: upgrade it",
                "version " + std::to_string(link.server_version()));
  }
  for (const Refused& refused : kRefused) {
    if (std::ranges::find(allows, refused.name) != allows.end()) continue;
    if (link.ask_text(refused.sql) == "t") return fail(ErrorCode::invalid_argument, refused.why);
  }
  return check_schema(link);
}

Result<void> check_sessions(Link& link, Link& other) {
  const std::string first = link.ask_text("SELECT pg_backend_pid()");
  other.ask("BEGIN");
  const std::string others = other.ask_text("SELECT pg_backend_pid()");
  const std::string second = link.ask_text("SELECT pg_backend_pid()");
  other.ask("COMMIT");
  if (first != others && first == second) return {};
  return fail(ErrorCode::invalid_argument,
              "a connection pooler that shares sessions (pool_mode=transaction) is in front of the database: "
              "connect to the database directly, or set pool_mode=session");
}

}  // namespace baton::store::postgres
