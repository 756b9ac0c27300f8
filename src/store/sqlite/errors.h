// Translates SQLite's errors into Baton's.
#pragma once

#include <SQLiteCpp/Exception.h>

#include <string_view>
#include <utility>

#include "base/error.h"
#include "store/sql/failure.h"

namespace baton::store::sqlite {

using sql::damaged;

// A full or failing disk and an unavailable lock are unavailable.
sql::Failure failure_of(const SQLite::Exception& exception);

// The error while opening: a file that is not a database gives invalid_argument.
base::Error error_at_open(const SQLite::Exception& exception);

// Runs `work`, whose SQLite::Exception it throws as sql::Failure.
template <class F>
auto translating(F&& work) -> decltype(work()) {
  try {
    return std::forward<F>(work)();
  } catch (const SQLite::Exception& exception) {
    throw failure_of(exception);
  }
}

// Runs `work`, a function that returns a Result and may throw what SQLiteCpp or a connection throws.
template <class F>
auto catching(std::string_view doing, F&& work) -> decltype(work()) {
  return sql::catching(doing, [&] { return translating(std::forward<F>(work)); });
}

}  // namespace baton::store::sqlite
