#include "limit/group_commit/committer.h"

#include <cstdlib>
#include <iostream>
#include <iterator>
#include <utility>

namespace baton::bench {
namespace {

constexpr int kEvents = 4;
constexpr char kSchema[] =
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=4000;"
    "PRAGMA cache_size=-65536;"
    "CREATE TABLE tasks (task_key INTEGER PRIMARY KEY, public_id TEXT NOT NULL, state TEXT NOT NULL,"
    "  last_event INTEGER NOT NULL) STRICT;"
    "CREATE UNIQUE INDEX tasks_by_id ON tasks (public_id);"
    "CREATE TABLE events (task_key INTEGER NOT NULL, number INTEGER NOT NULL, body TEXT NOT NULL,"
    "  PRIMARY KEY (task_key, number)) STRICT, WITHOUT ROWID;";

}  // namespace

Committer::Committer(const std::string& path, int commits, Done done)
    : events_a_commit_(kEvents / commits), done_(std::move(done)) {
  if (sqlite3_open(path.c_str(), &database_) != SQLITE_OK) std::exit(1);
  execute(kSchema);
  insert_task_ = prepare("INSERT INTO tasks VALUES (?1, printf('%016x', ?1), 'submitted', 0)");
  insert_event_ = prepare("INSERT INTO events VALUES (?1, ?2, ?3)");
  update_task_ = prepare("UPDATE tasks SET state = 'completed', last_event = ?2 WHERE task_key = ?1");
}

void Committer::add(int connection, std::string_view body) {
  std::lock_guard lock(mutex_);
  waiting_.push_back({connection, ++next_key_, 0, std::string(body)});
  news_.notify_one();
}

void Committer::run() {
  std::vector<Request> group;
  while (true) {
    group = next_group(std::move(group));
    execute("BEGIN IMMEDIATE");
    for (Request& request : group) store(request);
    execute("COMMIT");
    std::vector<int> finished;
    std::erase_if(group, [&](const Request& request) {
      if (request.events == kEvents) finished.push_back(request.connection);
      return request.events == kEvents;
    });
    if (!finished.empty()) done_(std::move(finished));
  }
}

// Returns the requests with commits left, and those that arrived meanwhile.
std::vector<Committer::Request> Committer::next_group(std::vector<Request> unfinished) {
  std::unique_lock lock(mutex_);
  if (unfinished.empty()) news_.wait(lock, [&] { return !waiting_.empty(); });
  std::move(waiting_.begin(), waiting_.end(), std::back_inserter(unfinished));
  waiting_.clear();
  return unfinished;
}

void Committer::store(Request& request) {
  if (request.events == 0) {
    sqlite3_bind_int64(insert_task_, 1, request.key);
    step(insert_task_);
  }
  for (int i = 0; i < events_a_commit_; ++i) {
    sqlite3_bind_int64(insert_event_, 1, request.key);
    sqlite3_bind_int(insert_event_, 2, ++request.events);
    sqlite3_bind_text(insert_event_, 3, request.body.data(), static_cast<int>(request.body.size()),
                      SQLITE_STATIC);
    step(insert_event_);
  }
  sqlite3_bind_int64(update_task_, 1, request.key);
  sqlite3_bind_int(update_task_, 2, request.events);
  step(update_task_);
}

void Committer::execute(const char* sql) {
  if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) == SQLITE_OK) return;
  std::cerr << sqlite3_errmsg(database_) << std::endl;
  std::_Exit(1);
}

sqlite3_stmt* Committer::prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_, sql, -1, &statement, nullptr) == SQLITE_OK) return statement;
  std::cerr << sqlite3_errmsg(database_) << std::endl;
  std::_Exit(1);
}

void Committer::step(sqlite3_stmt* statement) {
  if (sqlite3_step(statement) != SQLITE_DONE) {
    std::cerr << sqlite3_errmsg(database_) << std::endl;
    std::_Exit(1);
  }
  sqlite3_reset(statement);
}

}  // namespace baton::bench
