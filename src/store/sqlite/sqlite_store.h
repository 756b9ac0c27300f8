// SqliteStore: the embedded store, one SQLite file in WAL mode.
//
// Reads use connections of their own and see what was committed when they began. A commit is written to the
// log and not flushed: that is what `flush` does. schema/README.md describes the tables.
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
#include "store/operator_store.h"
#include "store/retention_store.h"
#include "store/task_store.h"

namespace baton::store {

struct SqliteOptions {
  std::string path;
  int readers = 3;
  int short_events_max = 32;            // longer logs get rows in the index tables
  std::size_t send_slice_max = 32'768;  // sends in memory before they are written as a sorted slice
  // Checks foreign keys, with a look-up per referencing row. For tests: the writing code maintains them.
  bool checks_references = false;
  // Called before a database of an earlier schema is upgraded, which may take a while.
  std::function<void(int from, int to)> on_upgrade = [](int, int) {};
  // How long a send is remembered to recognise repetitions.
  base::Duration send_retention = std::chrono::hours(24);
};

class SqliteStore final : public TaskStore,
                          public DeliveryStore,
                          public OperatorStore,
                          public RetentionStore {
 public:
  // Opens the database, creating or upgrading it as needed. Fails with already_exists (another Baton has it
  // open), unsupported (a newer Baton wrote it, or one before this schema), invalid_argument (not a database,
  // or another program's), unavailable. `clock` must outlive the store.
  static base::Result<std::unique_ptr<SqliteStore>> open(const SqliteOptions& options,
                                                         const base::Clock& clock);

  ~SqliteStore() override;

  // The database's name to other servers: made with it, and the same over restarts.
  const std::string& server_name() const;

  base::Result<Committed> apply(task::Change& change, TaskRow& row) override;
  base::Result<void> commit() override;
  base::Result<void> flush() override;
  base::Result<TaskRow> row(task::TaskKey key) const override;
  base::Result<task::TaskHead> find(const task::TaskRef& ref) const override;
  base::Result<task::Task> read(task::TaskKey key, const task::Depth& depth,
                                std::optional<task::EventNumber> as_of = {}) const override;
  base::Result<std::vector<task::Event>> events(task::TaskKey key, task::EventNumber after,
                                                int limit) const override;
  base::Result<TurnInput> turn_input(task::TaskKey key, task::EventNumber message) const override;
  base::Result<ContextRecord> context(task::ContextKey context, task::TaskKey task,
                                      task::EventNumber unanswered, int limit) const override;
  base::Result<std::optional<Stop>> stop_after(task::TaskKey key, task::EventNumber number) const override;
  base::Result<task::EventNumber> stop_before(task::TaskKey key, task::EventNumber number) const override;
  base::Result<EarlierSend> earlier_send(const task::SendDigest& digest) const override;
  base::Result<ListPage> list(const task::ListFilter& filter) const override;
  base::Result<std::vector<task::TaskHead>> open_tasks(Open which, task::TaskKey key,
                                                       int limit) const override;

  base::Result<std::vector<Delivery>> due_deliveries(base::Timestamp now, int limit) const override;
  base::Result<std::optional<base::Timestamp>> next_due() const override;
  base::Result<void> record(const DeliveryResult& result) override;
  base::Result<std::vector<task::PushConfig>> configs(task::TaskKey task) const override;
  base::Result<Counts> delivery_counts() const override;

  base::Result<std::vector<task::TaskHead>> all_tasks(task::TaskKey after, int limit) const override;
  base::Result<task::TaskKey> last_made(base::Timestamp time) const override;
  base::Result<std::vector<TreeMember>> tree(task::TaskKey root, int most) const override;
  bool kept_before() const override;
  base::Result<std::vector<Removed>> remove(const Removal& removal) override;
  base::Result<bool> tidy(std::int64_t spare_pages) override;
  base::Result<TaskPage> page(const TaskQuery& query) const override;
  base::Result<TaskCount> count(const TaskFilter& filter) const override;
  base::Result<std::vector<AgentCounts>> counts_by_agent() const override;
  base::Result<TaskLine> line(task::TaskKey key) const override;
  base::Result<DeliveryPage> deliveries(const DeliveryFilter& filter, std::int64_t before,
                                        int limit) const override;
  base::Result<DeliveryLine> delivery(DeliveryKey key) const override;
  base::Result<AuditPage> audit(const AuditFilter& filter, std::int64_t before, int limit) const override;
  base::Result<std::vector<AgentControl>> agent_controls() const override;
  base::Result<std::vector<BulkJob>> bulk_jobs(int limit) const override;
  base::Result<BulkJob> bulk_job(task::BulkJobKey key) const override;
  base::Result<std::vector<BulkItem>> bulk_items(task::BulkJobKey job, task::TaskKey after, int limit,
                                                 bool open) const override;
  base::Result<void> write(const OperatorWrite& write) override;

 private:
  struct Parts;
  explicit SqliteStore(std::unique_ptr<Parts> parts);

  template <class F>
  auto writing(const char* doing, F&& work) -> decltype(work());
  template <class F>
  auto reading(const char* doing, F&& work) const;
  template <class T, class F>
  base::Result<T> looking(const char* doing, F&& work) const;

  std::unique_ptr<Parts> parts_;
};

}  // namespace baton::store
