// Source and Target: the two databases of a copy, each locked, so that no other program changes it meanwhile.
// SQLite and PostgreSQL implement both (store/sqlite/copy_sides.h, store/postgres/copy_sides.h).
//
// Threads: one at a time. Errors: everything throws sql::Failure.
#pragma once

#include <span>
#include <string>

#include "base/error.h"
#include "store/copy/tables.h"
#include "store/sql/connection.h"

namespace baton::store::copy {

class Side {
 public:
  Side() = default;
  virtual ~Side() = default;
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  virtual sql::Connection& connection() = 0;
  // The text after FROM that has the table's columns: its name, or a named SELECT in parentheses. Its keys
  // are unique.
  virtual std::string rows_of(const Table& table) const { return table.name; }
};

// A database with the newest schema, opened for reading in one snapshot.
class Source : public Side {
 public:
  // A name without secrets.
  virtual std::string name() const = 0;
};

// A database with the newest schema. Either a copy to it was begun (unfinished.h), or it has only the rows
// that migrations insert.
class Target : public Side {
 public:
  virtual bool is_begun() const = 0;
  // Adds a row in the open transaction.
  virtual void insert(const Table& table, std::span<const sql::Parameter> row) = 0;
  // Writes the data that a server needs to continue with the copied rows. Called once all rows are there, in
  // the last transaction.
  virtual void prepare_to_serve() = 0;
  // Called after the last transaction. When it returns, the copy survives a power failure.
  virtual base::Result<void> flush() = 0;
};

}  // namespace baton::store::copy
