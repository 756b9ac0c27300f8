// Session: runs the shared statements that return rows on a link. Reader: a connection for reads.
//
// Threads: one at a time. Errors: everything throws sql::Failure.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "store/postgres/lane/link.h"
#include "store/sql/connection.h"

namespace baton::store::postgres {

class Session;

// The rows of one statement. The rows of a scan come in pieces. The first piece is the result of the
// statement with a limit, which is nearly always all there is; the rest comes through a cursor of the server.
class Cursor final : public sql::Cursor {
 public:
  explicit Cursor(std::string name) : name_(std::move(name)) {}

  void start(Rows rows);
  // Starts with the first piece of a scan, which was full, so that there may be more.
  void start_scan(Rows rows, Session& session, const std::string& sql, Link::Parameters parameters);

  bool step() override;
  std::int64_t integer(int column) const override { return integer_at(rows_.get(), row_, column); }
  std::string text(int column) const override { return text_at(rows_.get(), row_, column); }
  bool is_null(int column) const override { return PQgetisnull(rows_.get(), row_, column) != 0; }
  void end() noexcept override;

 private:
  friend class Session;

  const std::string name_;  // as the server knows it
  Rows rows_;
  int row_ = -1;
  // For a scan that may have more rows.
  Session* session_ = nullptr;
  int asked_ = 0;  // the requested number of rows of the current piece
  bool is_declared_ = false;
  std::string sql_;
  std::vector<sql::Parameter> parameters_;
  std::deque<std::string> texts_;
  std::int64_t declared_in_ = 0;  // the last transaction with such a cursor
};

class Session {
 public:
  explicit Session(const Address& address) : link_(address) {}

  Link& link() { return link_; }
  // Runs a shared statement, identified by the address of `sql`. Statements queued before are answered with
  // it.
  Cursor& query(const char* sql, Link::Parameters parameters, bool perhaps_some);
  void send(const char* sql, Link::Parameters parameters) { link_.send(sql, known(sql).sql, parameters); }
  // Notes that a transaction begins: the server has dropped the cursors of earlier ones.
  void note_begin() { ++transactions_; }
  // The next piece of a scan.
  Rows more_of(Cursor& cursor);

 private:
  struct Known {
    std::string sql, first;  // the statement in PostgreSQL's dialect; the same with a limit
    std::unique_ptr<Cursor> cursor;
  };
  Known& known(const char* sql);

  Link link_;
  std::int64_t transactions_ = 1;
  std::unordered_map<const char*, Known> known_;
};

// A connection for reads. The first query of the next snapshot replaces a lost connection. `check` is called
// with each new connection before it is used, and throws if it leads to a database that must not be read.
class Reader final : public sql::Connection {
 public:
  using Check = std::function<void(Link&)>;
  Reader(const Address& address, Check check);

  void begin() override { begin_reading(); }
  void commit() override { rollback(); }
  void begin_reading() override { is_begun_ = false; }
  void rollback() noexcept override;
  void overwrite_deleted(bool) override {}
  bool give_back_pages(std::int64_t) override { return false; }

  Link& link() { return session_->link(); }

 private:
  sql::Cursor& start(const char* sql, Parameters parameters, bool perhaps_some) override;
  void execute(const char* sql, Parameters parameters) override { execute_counted(sql, parameters); }
  std::int64_t execute_counted(const char* sql, Parameters parameters) override;

  std::unique_ptr<Session> connect() const;

  const Address& address_;
  const Check check_;
  std::unique_ptr<Session> session_;
  bool is_begun_ = false;  // the server knows of the snapshot
};

}  // namespace baton::store::postgres
