// SqliteStore: the embedded store, one SQLite file in WAL mode.
//
// One thread writes, grouping queued changes into one transaction; another flushes the groups. Reads use
// their own connections and see what was committed when they began. Results shown to callers are on disk: a
// read that may have seen a group before its flush waits for it. schema/README.md describes the tables.
// If the disk is full or unwritable, the affected changes get `unavailable`, nothing acknowledged is lost,
// and the store recovers with the disk. If a flush fails, the program ends, because readers of the database
// have seen data that may be lost. The next start finds everything that was acknowledged.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "store/task_store.h"

namespace baton::store {

struct SqliteOptions {
  std::string path;
  int readers = 3;
  std::size_t queue_max = 20'000;            // queued changes
  std::size_t queue_bytes_max = 256u << 20;  // memory of the queued changes
  std::size_t remembered_tasks_max = 4'000;  // heads cached by the committing thread
  std::size_t recent_bytes_max = 8u << 20;   // cache of the newest tasks
  int short_events_max = 32;                 // longer logs get rows in the index tables
  std::size_t send_slice_max = 32'768;       // sends in memory before they are written as a sorted slice
  // Checks foreign keys, with a look-up per referencing row. For tests: the writing code maintains them.
  bool checks_references = false;
  // Called with the error before the program ends, on a store thread.
  std::function<void(const base::Error&)> on_flush_failed = [](const base::Error&) {};
  // Called before an older database is upgraded, which may take a while.
  std::function<void(int from, int to)> on_upgrade = [](int, int) {};
  // How long a send is remembered to recognise repetitions.
  base::Duration send_retention = std::chrono::hours(24);
};

class SqliteStore final : public TaskStore, public DeliveryStore {
 public:
  // Opens the database, creating or upgrading it as needed. Fails with already_exists (another Baton has it
  // open), unsupported (a newer Baton wrote it), invalid_argument (not a database, or another program's),
  // unavailable. `clock` must outlive the store.
  static base::Result<std::unique_ptr<SqliteStore>> open(const SqliteOptions& options,
                                                         const base::Clock& clock);

  // Commits the queue. No other call may be in progress.
  ~SqliteStore() override;

  using TaskStore::commit;
  void commit(task::Change change, CommitCallback done, EarlyCallback early) override;
  base::Result<task::TaskHead> head(const task::TaskRef& ref) const override;
  base::Result<task::TaskHead> head(task::TaskKey key) const override;
  base::Result<task::Task> read(task::TaskKey key, const task::Depth& depth,
                                std::optional<task::EventNumber> as_of = {}) const override;
  base::Result<task::Task> read(const task::TaskRef& ref, const task::Depth& depth) const override;
  base::Result<std::vector<task::Event>> events(task::TaskKey key, task::EventNumber after,
                                                int limit) const override;
  bool after_change(task::TaskKey key, std::function<void()> then) override;
  base::Result<TurnInput> turn_input(task::TaskKey key, task::EventNumber message) const override;
  base::Result<task::EventNumber> next_message(task::TaskKey key, task::EventNumber after) const override;
  base::Result<std::vector<task::Message>> conversation(task::ContextKey context, task::TaskKey before_task,
                                                        task::EventNumber before, int limit) const override;
  base::Result<std::vector<task::TaskHead>> unfinished(task::TaskKey after, int limit) const override;
  base::Result<std::vector<task::TaskHead>> open_children(task::TaskKey parent) const override;
  base::Result<std::vector<task::TaskHead>> orphans() const override;
  base::Result<EarlierSend> earlier_send(const task::SendDigest& digest) const override;
  base::Result<task::Event> first_stop(task::TaskKey key, task::EventNumber after) const override;
  base::Result<task::EventNumber> last_stop(task::TaskKey key, task::EventNumber before) const override;
  base::Result<std::vector<std::string>> call_ids(task::ContextKey context) const override;
  base::Result<ListPage> list(const task::ListFilter& filter) const override;
  void set_push(task::TaskKey key, task::PushConfig config, int configs_max,
                std::function<void(base::Result<task::PushConfig>)> done) override;
  base::Result<std::vector<task::PushConfig>> push_configs(task::TaskKey key) const override;
  void delete_push(task::TaskKey key, task::PushConfigId id,
                   std::function<void(base::Result<void>)> done) override;
  void probe(std::function<void(base::Result<void>)> done) override;

  base::Result<std::vector<Delivery>> due_deliveries(base::Timestamp now, int limit) const override;
  base::Result<std::optional<base::Timestamp>> next_due() const override;
  void record(DeliveryResult result, std::function<void(base::Result<void>)> done) override;
  base::Result<Counts> delivery_counts() const override;

 private:
  struct Parts;
  explicit SqliteStore(std::unique_ptr<Parts> parts);

  template <class F>
  auto peeking(const char* doing, F&& work) const;
  template <class F>
  auto reading(const char* doing, F&& work) const;
  template <class F>
  auto reading(task::TaskKey key, const char* doing, F&& work) const;
  void settle(task::TaskKey key) const;

  std::unique_ptr<Parts> parts_;
};

}  // namespace baton::store
