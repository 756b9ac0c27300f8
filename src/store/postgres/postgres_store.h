// PostgresStore: tasks in a PostgreSQL database. schema/README.md describes the tables.
//
// A commit is answered by the database once it is on its disk, so `flush` has nothing to do. Reads use
// connections of their own. A connection that is lost is made again, and what became of a group that was
// under way is found out before `commit` returns: it has happened, or it is written again, or, after half a
// minute, `commit` fails with unavailable. Threads: as TaskStore says.
//
// Two things end the program (on_lost, and every later `flush` fails): a group whose commit failed turns out
// to have happened, so that memory is behind; and the database has lost what it had confirmed, as a standby
// that was promoted may have. Such a database is not read either.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "store/peers.h"
#include "store/sql/store.h"

namespace baton::store {

struct PostgresOptions {
  // As libpq reads it: "postgresql://user:password@host/database?options", or "host=... dbname=...". What
  // must stay secret in it is in no message.
  std::string url;
  int readers = 3;
  int short_events_max = 32;  // longer logs get rows in the index tables
  // How long a send is remembered to recognise repetitions.
  base::Duration send_retention = std::chrono::hours(24);
  // Settings of the server that `open` would refuse, by their names in its messages: "fsync=off".
  std::vector<std::string> allows = {};
  // Called before a database of an earlier schema is upgraded, which may take a while.
  std::function<void(int from, int to)> on_upgrade = [](int, int) {};
  // Asked every so often while other nodes have the database, or it is away: whether to wait. Then this one
  // takes over when they have gone. Null: it joins them.
  std::function<bool()> waits = nullptr;
  // What operators know this node by; empty: its machine's name. And the version of the program.
  std::string name = {}, version = {};
  // How long this one counts as alive after its last sign of life, and how often it gives one at least.
  std::chrono::milliseconds lease{5'000}, lease_renewal{500};
  // Called once, on any thread of the store's callers or its own, when nothing can be written any more: end
  // the program. `flush` fails from then on, but who only reads never calls it.
  std::function<void(const std::string& why)> on_lost = [](const std::string&) {};
};

class PostgresStore final : public sql::Store {
 public:
  // Opens the database as one node more, creating or upgrading the tables as needed, and takes over from
  // nodes that are dead. Returns once all others know of it. Fails with already_exists (another Baton has it
  // open that does not share it, or shares tables that are to be upgraded), unsupported (built without
  // PostgreSQL; a server that is too old; tables of a newer Baton), invalid_argument (the URL; a setting that
  // would lose what was confirmed; a database with other tables), unavailable. The message says what to do.
  // `clock` must outlive the store.
  static base::Result<std::unique_ptr<PostgresStore>> open(const PostgresOptions& options,
                                                           const base::Clock& clock);
  // Whether this program was built with PostgreSQL.
  static bool available();

  // The database's name to other servers: made with it, and the same over restarts.
  const std::string& server_name() const;
  // The nodes that share the database.
  Peers& peers() const;

  ~PostgresStore() override;

  base::Result<void> flush() override;
  bool kept_before() const override;

 private:
  struct Parts;
  explicit PostgresStore(std::unique_ptr<Parts> parts);
  static base::Result<std::unique_ptr<PostgresStore>> open_now(const PostgresOptions& options,
                                                               const base::Clock& clock);
  base::Result<std::vector<task::TaskHead>> take_queued(const std::vector<task::AgentName>& agents, int most);

  sql::WriteState& state() const override;
  const sql::RecentSends& recent_sends() const override;
  sql::ConnectionPool& readers() const override;
  sql::ConnectionPool& operators() const override;
  void commit_group(bool is_empty) override;

  std::unique_ptr<Parts> parts_;
};

}  // namespace baton::store
