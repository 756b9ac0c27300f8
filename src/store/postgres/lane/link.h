// Link: one connection of libpq, in pipeline mode. What is queued goes out together, and is answered
// together.
//
// Threads: one at a time. Errors: everything throws sql::Failure.
#pragma once

#include <libpq-fe.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/sql/connection.h"
#include "store/sql/failure.h"

namespace baton::store::postgres {

// For Link::set_patience, of whoever serves callers.
inline constexpr std::chrono::seconds kServerPatience(30);

struct ClearResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Rows = std::unique_ptr<PGresult, ClearResult>;

// What a URL of a database says, and what of it no message may have.
class Address {
 public:
  // Fails with invalid_argument, without a word of the URL: it may be the password.
  static base::Result<Address> read(const std::string& url);

  const std::string& url() const { return url_; }
  // Without user and password.
  const std::string& name() const { return name_; }
  // The text without what is secret.
  std::string redacted(std::string text) const;

 private:
  std::string url_, name_;
  std::vector<std::string> secrets_;
};

// A failed statement, or a lost connection.
class LinkFailure : public sql::Failure {
 public:
  LinkFailure(base::ErrorCode code, const std::string& what, std::string state, bool is_lost)
      : Failure(code, what), state_(std::move(state)), is_lost_(is_lost) {}

  // SQLSTATE; empty if the server has said nothing.
  const std::string& state() const { return state_; }
  // The connection is gone, or of no use any more.
  bool is_lost() const { return is_lost_; }

 private:
  std::string state_;
  bool is_lost_;
};

class Link {
 public:
  // Connects. Waits some seconds at most.
  explicit Link(const Address& address);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // From now on a server that says nothing for so long while it is asked counts as lost. Before, it is waited
  // for without end: statements that upgrade tables or copy them may take long.
  void set_patience(std::chrono::milliseconds patience) { patience_ = patience; }

  using Parameters = std::span<const sql::Parameter>;
  // Queues a statement. It is prepared when it is first sent, with the types of these parameters, and is
  // known by `key`. `sql` is PostgreSQL's.
  void send(const void* key, const std::string& sql, Parameters parameters);
  void send(const char* sql, Parameters parameters = {});  // known by its address
  // A parameter that is a whole array.
  struct Array {
    bool of_texts = false;
    std::string bytes;
  };
  void send_arrays(const void* key, const std::string& sql, std::span<const Array> arrays);
  // Queues a statement that is not prepared.
  void send_once(const std::string& sql);
  // Waits for all answers. Returns that of the last statement. After a failure all of what was queued after
  // it was skipped.
  Rows finish();
  // Sends what is queued, without waiting; `finish` waits for that as well.
  void flush();

  // For what is not hurried: queues and finishes.
  Rows ask(const std::string& sql);
  std::string ask_text(const std::string& sql);

  // What was told on channels that this session listens to, and has arrived. Nothing may be queued.
  std::vector<std::string> told();
  // To wait for it: then there is something to read, or the connection is lost.
  int socket() const { return PQsocket(connection_); }

  bool is_lost() const;
  std::string parameter(const char* name) const;
  int server_version() const { return PQserverVersion(connection_); }

 private:
  struct Prepared {
    std::string name;
  };
  void set_up();
  const Prepared& prepared(const void* key, const std::string& sql, std::span<const Oid> types);
  void send_prepared(const Prepared& statement, int count);
  void wait();
  [[noreturn]] void lost(const std::string& what);
  LinkFailure failure_of(const PGresult* result) const;
  void check(int is_fine);

  const Address& address_;
  PGconn* connection_ = nullptr;
  std::chrono::milliseconds patience_{-1};
  bool is_silent_ = false;  // it was waited for in vain
  std::unordered_map<const void*, Prepared> prepared_;
  std::vector<const void*> prepared_since_;  // in what is not answered yet
  std::int64_t names_ = 0;
  int syncs_ = 0;         // not answered yet
  bool is_fresh_ = true;  // nothing is queued since the last sync
  // Of the statement that is being sent.
  std::vector<const char*> values_;
  std::vector<int> lengths_, formats_;
  std::vector<std::int64_t> numbers_;
  std::vector<std::string> escapes_;
  std::vector<Oid> types_;
};

// A value of a row; a null is 0 or empty.
std::int64_t integer_at(const PGresult* rows, int row, int column);
std::string text_at(const PGresult* rows, int row, int column);

// As a name within a statement.
std::string quoted_name(std::string_view name);

}  // namespace baton::store::postgres
