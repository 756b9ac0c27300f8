// SqliteStore: the embedded store, one SQLite file in WAL mode.
//
// Reads use connections of their own and see what was committed when they began. A commit is written to the
// log and not flushed: that is what `flush` does. schema/TABLES.md describes the tables.
// If the disk is full or unwritable, `apply` and `commit` fail with unavailable and recover with the disk.
// After a failed flush nobody knows what the disk has, while readers have seen it: end the program. The next
// start moves what the log has into the database, flushed, before anybody reads it. Threads: as TaskStore
// says.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "store/sql/store.h"

namespace baton::store {

struct SqliteOptions {
  std::string path;
  int readers = 3;
  int short_events_max = 32;            // longer logs get rows in the index tables
  std::size_t send_slice_max = 32'768;  // sends in memory before they are written as a sorted slice
  // Checks foreign keys, which costs a look-up per referencing row. For tests: the writing code keeps them
  // valid.
  bool checks_references = false;
  // Called before a database of an earlier schema is upgraded, which may take a while.
  std::function<void(int from, int to)> on_upgrade = [](int, int) {};
  // How long a send is remembered to recognise repetitions.
  base::Duration send_retention = std::chrono::hours(24);
};

class SqliteStore final : public sql::Store {
 public:
  // Opens the database, creating or upgrading it as needed. Fails with already_exists (another Baton has it
  // open), unsupported (a newer Baton wrote it, or one before this schema), invalid_argument (not a database,
  // or another program's), unavailable. `clock` must outlive the store.
  static base::Result<std::unique_ptr<SqliteStore>> open(const SqliteOptions& options,
                                                         const base::Clock& clock);

  ~SqliteStore() override;

  // The database's name to other servers: created with the database, and never changed.
  const std::string& server_name() const;

  base::Result<void> flush() override;
  bool kept_before() const override;

 private:
  struct Parts;
  explicit SqliteStore(std::unique_ptr<Parts> parts);

  sql::WriteState& state() const override;
  const sql::RecentSends& recent_sends() const override;
  sql::ConnectionPool& readers() const override;
  sql::ConnectionPool& operators() const override;
  void commit_group(bool is_empty) override;

  std::unique_ptr<Parts> parts_;
};

}  // namespace baton::store
