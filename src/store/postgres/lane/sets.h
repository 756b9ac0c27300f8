// Sets: many runs of one statement as one statement over arrays, which costs the server much less.
//
// Done to "INSERT INTO table (...) VALUES (...), ..." and "UPDATE table SET ... WHERE key = ?n": rows of
// different statements, and of one INSERT, do not depend on each other, as there are no foreign keys or
// triggers. Every other statement is on its own, in its place.
//
// "/* guarded */ UPDATE table SET ... WHERE key = ?n AND guard = ?m" fails, by a division by zero, if a row
// is not there or its guard is another. It is always a set.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "store/postgres/lane/link.h"

namespace baton::store::postgres {

// How a statement becomes one over arrays.
struct SetForm {
  std::string sql;  // with an array for each parameter
  std::string table;
  // Of an UPDATE: the parameter that chooses the row. The last of two runs for one row counts, as both set
  // the same columns.
  std::optional<std::size_t> key;
  // The parameter that the row is compared with. That of the first of these runs counts, as the row was then.
  std::optional<std::size_t> guard = {};
};

// `sql` is PostgreSQL's, with `parameters` parameters. Nothing: it has none.
std::optional<SetForm> set_form(std::string_view sql, std::size_t parameters);

// Builds an array from one parameter of many runs.
class ArrayWriter {
 public:
  ArrayWriter(sql::Parameter::Kind kind, std::size_t size);
  void add(const sql::Parameter& value);
  Link::Array take() { return std::move(array_); }

 private:
  void add_size(std::int32_t size);

  Link::Array array_;
};

}  // namespace baton::store::postgres
