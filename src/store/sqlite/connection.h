// Connection: one SQLite connection with its prepared statements.
//
// Threads: one at a time; SQLite's own mutex for a connection is switched off.
// Errors: the functions of sql::Connection throw sql::Failure; opening, and operations on `database()`, throw
// SQLite::Exception.
#pragma once

#include <SQLiteCpp/Database.h>

#include <cstdint>
#include <string>
#include <unordered_map>

#include "store/sql/connection.h"

struct sqlite3_stmt;

namespace baton::store::sqlite {

using sql::Blob;
using sql::Query;
using sql::Snapshot;

// A prepared statement. It uses SQLite's own functions, because SQLiteCpp's wrappers cost as much per row as
// the calls themselves.
class Statement final : public sql::Cursor {
 public:
  Statement(SQLite::Database& database, const char* sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // `keeps`: the texts stay valid until the statement is over, so they are not copied.
  void bind(std::span<const sql::Parameter> parameters, bool keeps);

  bool step() override;
  std::int64_t integer(int column) const override;
  std::string text(int column) const override;
  bool is_null(int column) const override;
  void end() noexcept override;

 private:
  [[noreturn]] void fail() const;

  SQLite::Database& database_;
  sqlite3_stmt* statement_ = nullptr;
};

class Connection final : public sql::Connection {
 public:
  enum class Mode { read, write };
  Connection(const std::string& path, Mode mode);

  void begin() override { run("BEGIN IMMEDIATE"); }
  void commit() override { run("COMMIT"); }
  void begin_reading() override { run("BEGIN"); }
  void rollback() noexcept override;

  // On: also overwrites pages that become free, which costs a write for each. Off: overwrites deleted data
  // only in pages that are written anyway.
  void overwrite_deleted(bool on) override;
  bool give_back_pages(std::int64_t spare_pages) override;

  // The path of the write-ahead log, with links followed, as SQLite does.
  std::string log_path() const;

  SQLite::Database& database() { return database_; }

 private:
  sql::Cursor& start(const char* sql, Parameters parameters, bool perhaps_some) override;
  void execute(const char* sql, Parameters parameters) override { execute_counted(sql, parameters); }
  std::int64_t execute_counted(const char* sql, Parameters parameters) override;
  Statement& prepared(const char* sql);

  SQLite::Database database_;
  std::unordered_map<const char*, Statement> statements_;
};

}  // namespace baton::store::sqlite
