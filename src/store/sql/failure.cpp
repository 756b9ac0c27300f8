#include "store/sql/failure.h"

namespace baton::store::sql {

using base::ErrorCode;

base::Error error_of(const Failure& failure, std::string_view doing) {
  std::string for_log = std::string(doing) + ": " + failure.what();
  switch (failure.code()) {
    case ErrorCode::unavailable:
      return {ErrorCode::unavailable, "the store is temporarily unavailable; try again", std::move(for_log)};
    case ErrorCode::raced:
      return {ErrorCode::raced, "another program changed it first", std::move(for_log)};
    case ErrorCode::too_large:
      return {ErrorCode::too_large, "too large to be stored", std::move(for_log)};
    default:
      return {ErrorCode::internal, "internal error", std::move(for_log)};
  }
}

base::Error about(const std::string& database, base::Error error) {
  error.for_log =
      database + ": " + error.for_caller + (error.for_log.empty() ? "" : " (" + error.for_log + ")");
  return error;
}

base::Error damaged(std::string for_log) {
  return {ErrorCode::internal, "internal error", "damaged store: " + std::move(for_log)};
}

Failure damaged_row(const std::string& what) {
  return {ErrorCode::internal, what};
}

}  // namespace baton::store::sql
