// Failure: the exception of database connections. It does not leave store/.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace baton::store::sql {

class Failure : public std::runtime_error {
 public:
  // `code`: unavailable if the statement is correct and a later retry may succeed; too_large; raced;
  // otherwise internal. `what` goes to the log and must not contain secrets.
  Failure(base::ErrorCode code, const std::string& what) : std::runtime_error(what), code_(code) {}

  base::ErrorCode code() const { return code_; }

 private:
  base::ErrorCode code_;
};

// Converts a failure to an error. `doing` goes to the log ("reading a task"). The caller sees neither
// statement nor path.
base::Error error_of(const Failure& failure, std::string_view doing);

// Adds the database's name, for the operator, to an error at opening it.
base::Error about(const std::string& database, base::Error error);

// The error for a row that does not decode or is missing.
base::Error damaged(std::string for_log);
// Returns the error of `damaged` as an exception, for code that reads a row.
Failure damaged_row(const std::string& what);

// Runs `work`, a function that returns a Result and may throw sql::Failure.
template <class F>
auto catching(std::string_view doing, F&& work) -> decltype(work()) {
  try {
    return std::forward<F>(work)();
  } catch (const Failure& failure) {
    return base::fail(error_of(failure, doing));
  }
}

}  // namespace baton::store::sql
