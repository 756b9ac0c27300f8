// Link: one connection of libpq, in pipeline mode. Queued statements are sent together and answered together.
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

// The value for Link::set_patience while the program serves callers.
inline constexpr std::chrono::seconds kServerPatience(30);

struct ClearResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Rows = std::unique_ptr<PGresult, ClearResult>;

// The URL of a database, and the secrets in it that no message may contain.
class Address {
 public:
  // Fails with invalid_argument, and with unsupported if there is no libpq (libpq.h). The error does not
  // quote the URL, because any part of it may be the password.
  static base::Result<Address> read(const std::string& url);

  const std::string& url() const { return url_; }
  // Without user and password.
  const std::string& name() const { return name_; }
  // Returns the text without the URL's secrets.
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

  // SQLSTATE; empty if the server gave none.
  const std::string& state() const { return state_; }
  // Whether the connection is gone or no longer usable.
  bool is_lost() const { return is_lost_; }

 private:
  std::string state_;
  bool is_lost_;
};

class Link {
 public:
  // Connects. Blocks for a few seconds at most, or for `patience` if the server accepts the connection and
  // then does not answer, like a pooler without a free connection.
  explicit Link(const Address& address, std::chrono::milliseconds patience = kServerPatience);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // Sets how long to wait for the server's next byte before the connection counts as lost. Until the first
  // call the wait is unlimited, because statements that upgrade or copy tables may take long.
  void set_patience(std::chrono::milliseconds patience) { patience_ = patience; }

  using Parameters = std::span<const sql::Parameter>;
  // Queues a statement. It is prepared when it is first sent, with the types of these parameters, and
  // identified by `key`. `sql` is in PostgreSQL's dialect.
  void send(const void* key, const std::string& sql, Parameters parameters);
  void send(const char* sql, Parameters parameters = {});  // identified by its address
  // An array as a parameter.
  struct Array {
    bool of_texts = false;
    std::string bytes;
  };
  void send_arrays(const void* key, const std::string& sql, std::span<const Array> arrays);
  // Queues a statement that is not prepared.
  void send_once(const std::string& sql);
  // Waits for all answers and returns that of the last statement. If a statement fails, the server skips all
  // statements queued after it.
  Rows finish();
  // Sends the queued statements without waiting; `finish` waits for them later.
  void flush();

  // Queue one statement and finish. Each call costs a round trip.
  Rows ask(const std::string& sql);
  std::string ask_text(const std::string& sql);

  // Returns the notifications that have arrived on channels that this session listens to. Nothing may be
  // queued.
  std::vector<std::string> notifications();
  // The socket to poll for notifications. If it is readable, data has arrived or the connection is lost.
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
  std::chrono::milliseconds patience_;
  bool is_silent_ = false;  // the server did not answer in time
  std::unordered_map<const void*, Prepared> prepared_;
  std::vector<const void*> prepared_since_;  // statements prepared since the last answered sync
  std::int64_t names_ = 0;
  int syncs_ = 0;         // syncs that are not answered yet
  bool is_fresh_ = true;  // nothing is queued since the last sync
  // Values of the statement that is being sent.
  std::vector<const char*> values_;
  std::vector<int> lengths_, formats_;
  std::vector<std::int64_t> numbers_;
  std::vector<std::string> escapes_;
  std::vector<Oid> types_;
};

// A value of a row; a null is 0 or empty.
std::int64_t integer_at(const PGresult* rows, int row, int column);
std::string text_at(const PGresult* rows, int row, int column);

// Quotes a name for use within a statement.
std::string quoted_name(std::string_view name);

}  // namespace baton::store::postgres
