// Connection: one SQLite connection with its prepared statements. Query: one running statement.
//
// Threads: one at a time; SQLite's own mutex for a connection is switched off.
// Errors: everything here throws SQLite::Exception.
#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <cstdint>
#include <string>
#include <unordered_map>

#include "base/id.h"

namespace baton::store::sqlite {

// Bound as a blob rather than text.
struct Blob {
  std::string bytes;
};

// Resets the statement when it goes out of scope.
class Query {
 public:
  explicit Query(SQLite::Statement& statement) : statement_(statement) {}
  ~Query() { statement_.tryReset(); }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  bool step() { return statement_.executeStep(); }

  std::int64_t integer(int column) const { return statement_.getColumn(column).getInt64(); }
  int small(int column) const { return statement_.getColumn(column).getInt(); }
  bool truth(int column) const { return integer(column) != 0; }
  std::string text(int column) const { return statement_.getColumn(column).getString(); }
  bool is_null(int column) const { return statement_.isColumnNull(column); }

 private:
  SQLite::Statement& statement_;
};

class Connection {
 public:
  enum class Mode { read, write };
  Connection(const std::string& path, Mode mode);

  // A statement ready to step. `sql` must live as long as the program: statements are cached by its address.
  // Do not start the same statement again while a Query of it lives.
  template <class... Arguments>
  Query query(const char* sql, const Arguments&... arguments) {
    SQLite::Statement& statement = prepared(sql);
    int place = 0;
    (bind_copy(statement, ++place, arguments), ...);
    return Query(statement);
  }

  // Runs a statement that returns no rows; texts are not copied. Returns the number of rows changed.
  template <class... Arguments>
  int run(const char* sql, const Arguments&... arguments) {
    SQLite::Statement& statement = prepared(sql);
    const Query reset_afterwards(statement);
    int place = 0;
    (bind_view(statement, ++place, arguments), ...);
    return statement.exec();
  }

  std::int64_t last_key() const { return database_.getLastInsertRowid(); }

  void begin() { run("BEGIN IMMEDIATE"); }
  void commit() { run("COMMIT"); }
  // Never throws: SQLite may have rolled back already, and no error could be handled better.
  void rollback() noexcept;

  // The path of the write-ahead log, with links followed, as SQLite does.
  std::string log_path() const;

  SQLite::Database& database() { return database_; }

 private:
  SQLite::Statement& prepared(const char* sql);

  static void bind_number(SQLite::Statement& statement, int place, std::int64_t value) {
    statement.bind(place, value);
  }
  template <class Value>
  static void bind_copy(SQLite::Statement& statement, int place, const Value& value) {
    if constexpr (std::is_integral_v<Value>) {
      bind_number(statement, place, static_cast<std::int64_t>(value));
    } else if constexpr (std::is_same_v<Value, std::nullptr_t>) {
      statement.bind(place);
    } else if constexpr (std::is_same_v<Value, std::string>) {
      statement.bind(place, value);
    } else {
      bind_copy(statement, place, value.value);  // an Id or a Number
    }
  }
  template <class Value>
  static void bind_view(SQLite::Statement& statement, int place, const Value& value) {
    if constexpr (std::is_same_v<Value, std::string>) {
      statement.bindNoCopy(place, value);
    } else if constexpr (std::is_same_v<Value, Blob>) {
      statement.bindNoCopy(place, value.bytes.data(), static_cast<int>(value.bytes.size()));
    } else if constexpr (requires { std::string(value.value); }) {
      statement.bindNoCopy(place, value.value);
    } else {
      bind_copy(statement, place, value);
    }
  }

  SQLite::Database database_;
  std::unordered_map<const char*, SQLite::Statement> statements_;
};

// A read snapshot for several queries. Ends when it goes out of scope.
class Snapshot {
 public:
  explicit Snapshot(Connection& connection) : connection_(connection) { connection.run("BEGIN"); }
  ~Snapshot() { connection_.rollback(); }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

 private:
  Connection& connection_;
};

}  // namespace baton::store::sqlite
