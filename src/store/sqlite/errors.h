// Translates SQLite's errors into Baton's.
#pragma once

#include <SQLiteCpp/Exception.h>

#include <string_view>
#include <utility>

#include "base/error.h"
#include "store/sql/failure.h"

namespace baton::store::sqlite {

using sql::damaged;

// Converts an exception. A full or failing disk and a lock that is held elsewhere give `unavailable`.
sql::Failure failure_of(const SQLite::Exception& exception);

// Converts an exception thrown while opening. A file that is not a database gives invalid_argument.
base::Error error_at_open(const SQLite::Exception& exception);

// Runs `work` and converts SQLite::Exception to sql::Failure.
template <class F>
auto translating(F&& work) -> decltype(work()) {
  try {
    return std::forward<F>(work)();
  } catch (const SQLite::Exception& exception) {
    throw failure_of(exception);
  }
}

// Runs `work`, a function that returns a Result, and converts the exceptions of SQLiteCpp and of connections
// to errors.
template <class F>
auto catching(std::string_view doing, F&& work) -> decltype(work()) {
  return sql::catching(doing, [&] { return translating(std::forward<F>(work)); });
}

}  // namespace baton::store::sqlite
