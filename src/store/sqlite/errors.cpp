#include "store/sqlite/errors.h"

#include <sqlite3.h>

#include <string>

namespace baton::store::sqlite {

bool is_outage(const SQLite::Exception& exception) {
  switch (exception.getErrorCode() & 0xff) {
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

base::Error error_of(const SQLite::Exception& exception, std::string_view doing) {
  std::string for_log = std::string(doing) + ": " + exception.what() + " (SQLite " +
                        std::to_string(exception.getExtendedErrorCode()) + ")";
  if (is_outage(exception)) {
    return {base::ErrorCode::unavailable, "the store is not available at the moment", std::move(for_log)};
  }
  if ((exception.getErrorCode() & 0xff) == SQLITE_TOOBIG) {
    return {base::ErrorCode::too_large, "too large to be stored", std::move(for_log)};
  }
  return {base::ErrorCode::internal, "internal error", std::move(for_log)};
}

base::Error error_at_open(const SQLite::Exception& exception) {
  base::Error error = error_of(exception, "opening");
  if ((exception.getErrorCode() & 0xff) == SQLITE_NOTADB) {
    error.code = base::ErrorCode::invalid_argument;
    error.for_caller = "the file is no database";
  }
  return error;
}

base::Error damaged(std::string for_log) {
  return {base::ErrorCode::internal, "internal error", "damaged store: " + std::move(for_log)};
}

}  // namespace baton::store::sqlite
