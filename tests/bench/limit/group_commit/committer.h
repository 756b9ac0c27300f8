// Committer: the minimum cost of a durable send. Each request waits for some commits, one after the other.
// One thread commits all waiting requests together, in SQLite with WAL and synchronous=FULL.
#pragma once

#include <sqlite3.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace baton::bench {

class Committer {
 public:
  using Done = std::function<void(std::vector<int>)>;  // the requests of these connections are on disk

  // A request is four events and a task's row, in `commits` (1, 2 or 4) commits.
  Committer(const std::string& path, int commits, Done done);

  void add(int connection, std::string_view body);
  // Never returns.
  [[noreturn]] void run();

 private:
  struct Request {
    int connection = -1;
    std::int64_t key = 0;
    int events = 0;  // the number of stored events
    std::string body;
  };

  std::vector<Request> next_group(std::vector<Request> unfinished);
  void store(Request& request);
  void execute(const char* sql);
  sqlite3_stmt* prepare(const char* sql);
  void step(sqlite3_stmt* statement);

  const int events_a_commit_;
  const Done done_;
  sqlite3* database_ = nullptr;
  sqlite3_stmt *insert_task_ = nullptr, *insert_event_ = nullptr, *update_task_ = nullptr;
  std::int64_t next_key_ = 0;
  std::mutex mutex_;
  std::condition_variable news_;
  std::vector<Request> waiting_;
};

}  // namespace baton::bench
