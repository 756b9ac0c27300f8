// ConnectionPool: a pool of reader connections, each used by one thread at a time.
//
// Threads: any. If all connections are in use, or none has been made yet, `lend` blocks until one is free.
// That is acceptable because reads are short.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "store/sql/connection.h"

namespace baton::store::sql {

// Connections for reads of operators, whose long lists delay no caller.
constexpr int kOperatorReaders = 2;

class ConnectionPool {
 public:
  // Makes the connections, at least one. Called once. `make` may throw.
  void open(int connections, const std::function<std::unique_ptr<Connection>()>& make);

  // Returns its connection to the pool when it goes out of scope.
  class Lent {
   public:
    Lent(ConnectionPool& pool, Connection& connection) : pool_(pool), connection_(connection) {}
    ~Lent() { pool_.give_back(connection_); }
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;
    Connection& operator*() { return connection_; }

   private:
    ConnectionPool& pool_;
    Connection& connection_;
  };
  Lent lend();

 private:
  void give_back(Connection& connection);

  std::vector<std::unique_ptr<Connection>> connections_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<Connection*> free_;
};

}  // namespace baton::store::sql
