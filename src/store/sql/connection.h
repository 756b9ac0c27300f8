// Connection: one connection to a database with its prepared statements. Query: one running statement.
//
// The statements use the SQL that SQLite and PostgreSQL share, plus a few SQLite constructs that a connection
// to PostgreSQL translates (store/postgres/lane/dialect.h).
//
// Threads: one at a time. Errors: everything here throws sql::Failure.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/id.h"

namespace baton::store::sql {

// Bound as a blob rather than text.
struct Blob {
  std::string bytes;
};

// One argument of a statement. Does not own the text.
struct Parameter {
  enum class Kind : std::uint8_t { integer, text, blob };

  template <class Value>
  explicit Parameter(const Value& value) {
    if constexpr (std::is_integral_v<Value>) {
      number = static_cast<std::int64_t>(value);
    } else if constexpr (std::is_same_v<Value, std::string>) {
      kind = Kind::text;
      bytes = value;
    } else if constexpr (std::is_same_v<Value, Blob>) {
      kind = Kind::blob;
      bytes = value.bytes;
    } else {
      *this = Parameter(value.value);  // an Id or a Number
    }
  }

  Kind kind = Kind::integer;
  std::int64_t number = 0;
  std::string_view bytes;
};

// Runs a statement and reads its rows. A null is read as 0 or an empty text.
class Cursor {
 public:
  virtual bool step() = 0;
  virtual std::int64_t integer(int column) const = 0;
  virtual std::string text(int column) const = 0;
  virtual bool is_null(int column) const = 0;
  // Ends the statement, which may then be started again.
  virtual void end() noexcept = 0;

 protected:
  ~Cursor() = default;
};

// Ends the statement when it goes out of scope.
class Query {
 public:
  explicit Query(Cursor& cursor) : cursor_(cursor) {}
  ~Query() { cursor_.end(); }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  bool step() { return cursor_.step(); }

  std::int64_t integer(int column) const { return cursor_.integer(column); }
  int small(int column) const { return static_cast<int>(integer(column)); }
  bool truth(int column) const { return integer(column) != 0; }
  std::string text(int column) const { return cursor_.text(column); }
  bool is_null(int column) const { return cursor_.is_null(column); }

 private:
  Cursor& cursor_;
};

class Connection {
 public:
  Connection() = default;
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Starts a statement that returns rows. `sql` must live as long as the program, because statements are
  // cached by its address. Do not start the same statement again while a Query of it exists.
  template <class... Arguments>
  Query query(const char* sql, const Arguments&... arguments) {
    return Query(start(sql, std::array<Parameter, sizeof...(Arguments)>{Parameter(arguments)...}, false));
  }
  // Like `query`, for callers that may read only the first rows.
  template <class... Arguments>
  Query scan(const char* sql, const Arguments&... arguments) {
    return Query(start(sql, std::array<Parameter, sizeof...(Arguments)>{Parameter(arguments)...}, true));
  }

  // Like `scan`, with a number of arguments that is only known at run time.
  Query scan_with(const char* sql, std::span<const Parameter> arguments) {
    return Query(start(sql, arguments, true));
  }

  // Runs a statement that returns no rows. Its error may be thrown by a later call, at the latest by
  // `commit`.
  template <class... Arguments>
  void run(const char* sql, const Arguments&... arguments) {
    execute(sql, std::array<Parameter, sizeof...(Arguments)>{Parameter(arguments)...});
  }
  void run_with(const char* sql, std::span<const Parameter> arguments) { execute(sql, arguments); }
  // Like `run`, but waits for the result and returns the number of changed rows.
  template <class... Arguments>
  std::int64_t run_counted(const char* sql, const Arguments&... arguments) {
    return execute_counted(sql, std::array<Parameter, sizeof...(Arguments)>{Parameter(arguments)...});
  }

  // Begins a transaction that writes.
  virtual void begin() = 0;
  virtual void commit() = 0;
  // Begins a transaction that reads in one snapshot. `rollback` ends it.
  virtual void begin_reading() = 0;
  // Never throws: the transaction may already be over, and a caller could not handle an error any better.
  virtual void rollback() noexcept = 0;

  // Sets whether data deleted from now on is overwritten where it was stored, if the database supports that.
  // Never throws when switched off.
  virtual void overwrite_deleted(bool on) = 0;
  // Returns some of the database's free pages to the disk, down to `spare_pages`, unless the database does
  // that by itself. Returns whether there is more to do.
  virtual bool give_back_pages(std::int64_t spare_pages) = 0;

 protected:
  using Parameters = std::span<const Parameter>;

 private:
  virtual Cursor& start(const char* sql, Parameters parameters, bool perhaps_some) = 0;
  virtual void execute(const char* sql, Parameters parameters) = 0;
  virtual std::int64_t execute_counted(const char* sql, Parameters parameters) = 0;
};

// A read snapshot for several queries. Ends when it goes out of scope.
class Snapshot {
 public:
  explicit Snapshot(Connection& connection) : connection_(connection) { connection.begin_reading(); }
  ~Snapshot() { connection_.rollback(); }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

 private:
  Connection& connection_;
};

}  // namespace baton::store::sql
