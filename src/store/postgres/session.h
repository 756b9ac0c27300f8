// Session: runs the shared statements that return rows on a link. Reader: a connection for reads.
//
// Threads: one at a time. Errors: everything throws sql::Failure.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "store/postgres/link.h"
#include "store/sql/connection.h"

namespace baton::store::postgres {

// The rows of one statement. Those of a scan come in pieces, through a cursor of the server.
class Cursor final : public sql::Cursor {
 public:
  // As the server knows it.
  explicit Cursor(std::string name) : name_(std::move(name)) {}

  // `link`: null, if these are all.
  void start(Rows rows, Link* link);

  bool step() override;
  std::int64_t integer(int column) const override { return integer_at(rows_.get(), row_, column); }
  std::string text(int column) const override { return text_at(rows_.get(), row_, column); }
  bool is_null(int column) const override { return PQgetisnull(rows_.get(), row_, column) != 0; }
  void end() noexcept override;

  const std::string& name() const { return name_; }

 private:
  const std::string name_;
  Rows rows_;
  int row_ = -1;
  Link* link_ = nullptr;
};

class Session {
 public:
  explicit Session(const Address& address) : link_(address) {}

  Link& link() { return link_; }
  // `sql` is the shared statement, known by its address. What is queued is answered with it.
  Cursor& query(const char* sql, Link::Parameters parameters, bool perhaps_some);
  void send(const char* sql, Link::Parameters parameters) { link_.send(sql, text_of(sql), parameters); }
  // A transaction begins: the server has forgotten the cursors of those before.
  void note_begin() { ++transactions_; }

 private:
  const std::string& text_of(const char* sql);

  Link link_;
  struct Known {
    std::string sql, declaration;
    std::unique_ptr<Cursor> cursor;
    std::int64_t declared_in = 0;  // the last transaction with this scan
  };
  std::int64_t transactions_ = 0;
  std::unordered_map<const char*, Known> known_;
};

// A connection that was lost is made again by the next snapshot's first query.
class Reader final : public sql::Connection {
 public:
  explicit Reader(const Address& address);

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

  const Address& address_;
  std::unique_ptr<Session> session_;
  bool is_begun_ = false;  // the server knows of the snapshot
};

}  // namespace baton::store::postgres
