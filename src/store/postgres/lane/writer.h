// Writer: the writing connection of a node, its lane. Writes of a group are kept in memory until something
// must see them or the group is committed; then all go out together.
//
// A group has a number, and its transaction raises the lane's row by one. When the connection is lost a new
// one is made, what is left of the old one is ended, and the row tells whether the group has happened; if
// not, the same writes go out again. That takes half a minute at most; then `commit` fails with unavailable,
// and what became of the group is found out before the next one begins: if it has happened, the writer ends.
//
// A group that meets what another node has written meanwhile, a row that is not as it was or a key that is
// there already, fails as a whole with raced. What a group meets that went out before may be itself, as a
// connection that is committing cannot be ended: then it has happened.
//
// After a failover an address may lead to a database that lacks what was confirmed: every new connection of a
// node is checked (`check`) before it is used.
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
  // Connects. Its session needs the lock before it writes.
  Writer(const Address& address, SchemaLock lock, OnLost on_lost);
  ~Writer() override;

  // Once the lane has its row. Groups are counted from 1.
  void take(Lane lane);
  Lane lane() const { return lane_; }

  void begin() override;
  void commit() override;
  void begin_reading() override { begin(); }
  void rollback() noexcept override;
  // A database of this kind overwrites what is deleted when it is vacuumed, by itself.
  void overwrite_deleted(bool) override {}
  bool give_back_pages(std::int64_t) override { return false; }

  // Ends this writer if the database that the connection leads to has lost what was confirmed, or another
  // node has taken over. Returns the last group it knows of. Fails with unavailable on a standby. From then
  // on the connection waits for answers no longer than kServerPatience.
  std::int64_t check(Link& link);

  // Has nothing written any more, for this reason.
  void end(const std::string& why);
  // The same, as this node has left: nobody is told.
  void retire();
  // Why nothing is written any more; empty: all is well. Another node has taken over, or the database has
  // lost what it had confirmed.
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
  Outcome settle();
  void end_former(Link& link);
  [[noreturn]] void give_up(const std::string& why);
  bool note_end(const std::string& why);
  // The group has failed, and is rolled back: another node has the lane, or was first (raced).
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
  std::vector<std::unique_ptr<Session>> former_;  // whose cursors the open group may still hold
  Lane lane_;
  std::atomic<std::int64_t> done_ = 0;  // the last group that is known to have happened
  bool is_begun_ = false;               // the server knows of the open group
  // When the open group lost its connection for the first time.
  std::optional<base::SteadyTime::time_point> lost_since_;
  WriteLog log_;
  base::Guarded<std::string> lost_;
};

}  // namespace baton::store::postgres
