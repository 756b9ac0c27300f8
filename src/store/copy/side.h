// Source and Target: the two databases of a copy, each locked, so that nobody else changes it meanwhile.
// SQLite and PostgreSQL have one of both kinds (store/sqlite/copy_sides.h, store/postgres/copy_sides.h).
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
  // Where FROM finds the table's columns: its name, or a SELECT in brackets with a name. No key comes twice.
  virtual std::string rows_of(const Table& table) const { return table.name; }
};

// Has the newest schema, and is open for reading in one snapshot.
class Source : public Side {
 public:
  // As anybody may see it.
  virtual std::string name() const = 0;
};

// Has the newest schema. Either a copy to it was begun (unfinished.h), or it has no rows but those that
// migrations make.
class Target : public Side {
 public:
  virtual bool is_begun() const = 0;
  // Adds a row in the open transaction.
  virtual void insert(const Table& table, std::span<const sql::Parameter> row) = 0;
  // Once all rows are there, in the last transaction: what a server needs to go on with them.
  virtual void prepare_to_serve() = 0;
  // After it: when this returns, the copy survives a power failure.
  virtual base::Result<void> flush() = 0;
};

}  // namespace baton::store::copy
