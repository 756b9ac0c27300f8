// Writer: the writing connection of a node, its lane. The writes of a group are kept in memory until a
// statement must see them or the group is committed; then all are sent together.
//
// A group has a number, and its transaction raises the number in the lane's row by one. When the connection
// is lost, the writer makes a new one and ends the server process of the old one. The lane's row then tells
// whether the group was committed; if not, the same writes are sent again. After at most half a minute
// `commit` fails with unavailable. Before the next group begins, the writer finds out whether the failed
// group was committed; if it was, the writer ends.
//
// A group that conflicts with the writes of another node (a row has changed, or a key already exists) fails
// as a whole with raced. A group that is sent again may conflict with itself, because a connection that is
// committing cannot be ended; then it was committed.
//
// After a failover an address may lead to a database that lacks confirmed commits, so every new connection of
// a node is checked (`check`) before it is used.
//
// Threads: the writing thread; `check`, `end` and `lost` from any. Errors: sql::Failure.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/guarded.h"
#include "base/threads.h"
#include "store/postgres/lane/locks.h"
#include "store/postgres/lane/session.h"
#include "store/postgres/lane/write_log.h"
#include "store/sql/connection.h"

namespace baton::store::postgres {

inline constexpr char kTakenOver[] = "another Baton has taken over the database";

struct Lane {
  std::int64_t node = 0, lane = 0;
};

class Writer final : public sql::Connection {
 public:
  using OnLost = std::function<void(const std::string& why)>;
  // Connects. The session must take the schema's lock before it writes.
  Writer(const Address& address, SchemaLock lock, OnLost on_lost);
  ~Writer() override;

  // Sets the lane, which must already have its row. Groups are counted from 1.
  void adopt(Lane lane);
  Lane lane() const { return lane_; }

  void begin() override;
  void commit() override;
  void begin_reading() override { begin(); }
  void rollback() noexcept override;
  // PostgreSQL overwrites deleted data by itself, when it vacuums.
  void overwrite_deleted(bool) override {}
  bool give_back_pages(std::int64_t) override { return false; }

  // Ends this writer if the connection's database has lost confirmed commits, or another node has taken over.
  // Otherwise returns the last group that the database has. Fails with unavailable on a standby. From then on
  // the connection waits for answers no longer than kServerPatience.
  std::int64_t check(Link& link);

  // Refuses all further writes, for this reason, and calls the OnLost function.
  void end(const std::string& why);
  // Refuses all further writes, because this node has left. Does not call the OnLost function.
  void retire();
  // Returns why the writer has ended: another node has taken over, the database has lost confirmed commits,
  // or this node has left. Empty while it works.
  std::string lost() const;

  // The connection, while no group is open.
  Link& link() { return session_->link(); }

 private:
  enum class Outcome { happened, open };

  sql::Cursor& start(const char* sql, Parameters parameters, bool perhaps_some) override;
  void execute(const char* sql, Parameters parameters) override;
  std::int64_t execute_counted(const char* sql, Parameters parameters) override;

  void send_writes();
  void connect();
  Outcome recover(std::chrono::milliseconds patience);
  Outcome resolve_outcome();
  void end_former(Link& link);
  [[noreturn]] void give_up(const std::string& why);
  bool note_end(const std::string& why);
  // Rolls back the group, which has failed: another node has the lane, or was first (raced).
  [[noreturn]] void lose(const LinkFailure& failure);
  bool stands();
  template <class F>
  auto in_group(F&& work) -> decltype(work());

  const Address& address_;
  const SchemaLock lock_;
  const OnLost on_lost_;
  std::unique_ptr<Session> session_;  // null: lost
  int backend_ = 0;
  std::string backend_since_;
  std::vector<std::unique_ptr<Session>> former_;  // kept because the open group may still hold their cursors
  Lane lane_;
  std::atomic<std::int64_t> done_ = 0;  // the last group that is known to be committed
  bool is_begun_ = false;               // the server knows of the open group
  // When the open group lost its connection for the first time.
  std::optional<base::SteadyTime::time_point> lost_since_;
  WriteLog log_;
  base::Guarded<std::string> lost_;
};

}  // namespace baton::store::postgres
