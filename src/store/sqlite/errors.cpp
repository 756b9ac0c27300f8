#include "store/sqlite/errors.h"

#include <sqlite3.h>

#include <string>

namespace baton::store::sqlite {
namespace {

// Whether a later retry may succeed, because the change did not cause the error.
bool is_outage(int code) {
  switch (code) {
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_NOMEM:
    case SQLITE_PROTOCOL:
      return true;
    default:
      return false;
  }
}

}  // namespace

sql::Failure failure_of(const SQLite::Exception& exception) {
  const int code = exception.getErrorCode() & 0xff;
  const std::string what =
      std::string(exception.what()) + " (SQLite " + std::to_string(exception.getExtendedErrorCode()) + ")";
  if (is_outage(code)) return {base::ErrorCode::unavailable, what};
  return {code == SQLITE_TOOBIG ? base::ErrorCode::too_large : base::ErrorCode::internal, what};
}

base::Error error_at_open(const SQLite::Exception& exception) {
  base::Error error = sql::error_of(failure_of(exception), "opening");
  if ((exception.getErrorCode() & 0xff) == SQLITE_NOTADB) {
    error.code = base::ErrorCode::invalid_argument;
    error.for_caller = "the file is not a database";
  }
  return error;
}

}  // namespace baton::store::sqlite
