// PostgresStore: tasks in a PostgreSQL database. schema/TABLES.md describes the tables.
//
// The database answers a commit once it is on its disk, so `flush` has nothing to do. Reads use connections
// of their own. A lost connection is replaced. If it is lost during a group, `commit` finds out whether the
// group was committed; if not, it writes the group again. After half a minute without success `commit` fails
// with unavailable.
// Threads: as for TaskStore.
//
// Two conditions end the program (on_lost is called, and every later `flush` fails). First, a group whose
// commit failed turns out to be committed, so that memory is out of date. Second, the database has lost
// confirmed commits, as a promoted standby may have. Such a database is not read either.
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
  // In libpq's syntax: "postgresql://user:password@host/database?options", or "host=... dbname=...". Its
  // secrets appear in no message.
  std::string url;
  int readers = 3;
  int short_events_max = 32;  // longer logs get rows in the index tables
  // How long a send is remembered to recognise repetitions.
  base::Duration send_retention = std::chrono::hours(24);
  // Settings of the server that `open` would refuse, by their names in its messages: "fsync=off".
  std::vector<std::string> allows = {};
  // Called before a database of an earlier schema is upgraded, which may take a while.
  std::function<void(int from, int to)> on_upgrade = [](int, int) {};
  // If set, this node waits until the other nodes have gone, then takes over. Called repeatedly while other
  // nodes have the database, or it is unavailable; returns whether to keep waiting. If null, this node joins
  // the others.
  std::function<bool()> waits = nullptr;
  // The node's name for operators; if empty, the machine's name. And the version of the program.
  std::string name = {}, version = {};
  // How long this node counts as alive after a renewal of its lease, and the longest interval between
  // renewals.
  std::chrono::milliseconds lease{5'000}, lease_renewal{500};
  // Called once, on a thread of the store or of its callers, when nothing can be written any more: end the
  // program. From then on `flush` fails, but a program that only reads never calls `flush`.
  std::function<void(const std::string& why)> on_lost = [](const std::string&) {};
};

class PostgresStore final : public sql::Store {
 public:
  // Opens the database as a further node, creating or upgrading the tables as needed, and takes over from
  // dead nodes. Returns once all other nodes know this one. Fails with already_exists (another Baton has it
  // open and does not share it, or the tables need an upgrade and other nodes use them), unsupported (built
  // without PostgreSQL; a server that is too old; tables of a newer Baton), invalid_argument (the URL; a
  // setting that may lose confirmed commits; a database with other tables), unavailable. The message says
  // what to do. `clock` must outlive the store.
  static base::Result<std::unique_ptr<PostgresStore>> open(const PostgresOptions& options,
                                                           const base::Clock& clock);
  // Whether this program was built with PostgreSQL.
  static bool available();

  // The database's name to other servers: created with the database, and never changed.
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
