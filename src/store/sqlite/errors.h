// Translates SQLite's errors into Baton's.
#pragma once

#include <SQLiteCpp/Exception.h>

#include <string_view>
#include <utility>

#include "base/error.h"

namespace baton::store::sqlite {

// `doing` goes to the log ("reading a task"). The caller sees neither statement nor path.
base::Error error_of(const SQLite::Exception& exception, std::string_view doing);

// Whether the cause is a full or failing disk or an unavailable lock: the change is not at fault, and a later
// retry may succeed.
bool is_outage(const SQLite::Exception& exception);

// The same as error_of while opening: a file that is not a database gives invalid_argument.
base::Error error_at_open(const SQLite::Exception& exception);

// The error for a row that does not decode or is missing.
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
