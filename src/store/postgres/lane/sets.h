// Sets: combine many runs of one statement into one statement over arrays, which costs the server much less.
//
// This applies to "INSERT INTO table (...) VALUES (...), ..." and "UPDATE table SET ... WHERE key = ?n". Rows
// of different statements, and of one INSERT, do not depend on each other, because there are no foreign keys
// or triggers. All other statements are sent separately, in their order.
//
// "/* guarded */ UPDATE table SET ... WHERE key = ?n AND guard = ?m" fails, by a division by zero, if a row
// is missing or its guard has another value. It is always a set.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "store/postgres/lane/link.h"

namespace baton::store::postgres {

// The form of a statement over arrays.
struct SetForm {
  std::string sql;  // with an array for each parameter
  std::string table;
  // For an UPDATE: the parameter that selects the row. If two runs update the same row, only the last one is
  // sent, because both set the same columns.
  std::optional<std::size_t> key;
  // The parameter that the guard is compared with. If several runs update the same row, the first run's value
  // counts, because it is the value before the group.
  std::optional<std::size_t> guard = {};
};

// Returns the set form of a statement in PostgreSQL's dialect with `parameters` parameters; nullopt if it has
// none.
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
