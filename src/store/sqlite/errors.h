// What SQLite says, as Baton's errors.
#pragma once

#include <SQLiteCpp/Exception.h>

#include <string_view>
#include <utility>

#include "base/error.h"

namespace baton::store::sqlite {

// `doing` goes to the log ("reading a task"). The caller learns neither statement nor path.
base::Error error_of(const SQLite::Exception& exception, std::string_view doing);

// A disk that is full or fails, a lock that is not to be had: another try later may work, the change itself
// is not at fault.
bool is_outage(const SQLite::Exception& exception);

// The same for a database that is being opened: what is no database is invalid_argument.
base::Error error_at_open(const SQLite::Exception& exception);

// A row whose content does not decode, or that ought to be there and is not.
base::Error damaged(std::string for_log);

// Runs `work`, a function that returns a Result and may throw what SQLiteCpp throws.
template <class F>
auto catching(std::string_view doing, F&& work) -> decltype(work()) {
  try {
    return std::forward<F>(work)();
  } catch (const SQLite::Exception& exception) {
    return base::fail(error_of(exception, doing));
  }
}

}  // namespace baton::store::sqlite
