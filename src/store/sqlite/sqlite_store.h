// SqliteStore: the embedded store, one SQLite file in WAL mode.
//
// One thread writes, grouping what is waiting into one transaction, another flushes the groups; reads use
// connections of their own and see what was committed when they began. What a read tells is on the disk:
// where it has seen a group that is being flushed, it waits for that. schema/README.md describes the tables.
// A full disk, or one that cannot be written: the changes concerned get `unavailable`, nothing acknowledged
// is lost, and the store goes on when the disk does. A disk that cannot be flushed ends the program: readers
// of the database have seen what may be lost, and it cannot be taken back. The next start finds all that was
// acknowledged.
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
  std::size_t queue_max = 20'000;            // changes that wait for the disk
  std::size_t queue_bytes_max = 256u << 20;  // and what they hold
  std::size_t remembered_tasks_max = 4'000;  // heads the committing thread keeps in memory
  std::size_t recent_bytes_max = 8u << 20;   // of the newest tasks, kept whole in memory
  int short_events_max = 32;                 // of a task without rows in the index tables
  std::size_t send_slice_max = 32'768;       // sends in memory before they are written sorted
  // Foreign keys are checked, by a look-up for each row that has one. For tests: what writes the rows keeps
  // them.
  bool checks_references = false;
  // Hears why before the program ends, on a thread of the store's.
  std::function<void(const base::Error&)> on_flush_failed = [](const base::Error&) {};
  // Hears first of an older database that is brought to a newer schema, which may take a while.
  std::function<void(int from, int to)> on_upgrade = [](int, int) {};
  // How long a send is remembered, by which a repeated one is known.
  base::Duration send_retention = std::chrono::hours(24);
};

class SqliteStore final : public TaskStore, public DeliveryStore {
 public:
  // Makes or upgrades the database. Fails with already_exists (another Baton has it open), unsupported (a
  // newer Baton wrote it), invalid_argument (no database, or another program's), unavailable. `clock` must
  // outlive the store.
  static base::Result<std::unique_ptr<SqliteStore>> open(const SqliteOptions& options,
                                                         const base::Clock& clock);

  // Commits what is waiting. No method may be under way.
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
