// Store: the base of SqliteStore and PostgresStore. Implements everything except opening, committing and
// flushing.
//
// Threads: as for TaskStore.
#pragma once

#include <functional>

#include "base/error.h"
#include "store/operator_store.h"
#include "store/retention_store.h"
#include "store/task_store.h"

namespace baton::store::sql {

class Connection;
class ConnectionPool;
class RecentSends;
class WriteState;

class Store : public TaskStore, public DeliveryStore, public OperatorStore, public RetentionStore {
 public:
  base::Result<Committed> apply(task::Change& change, TaskRow& row) override;
  base::Result<void> entitle(const task::ContextRef& context, const std::string& title) override;
  base::Result<void> commit() override;
  base::Result<TaskRow> row(task::TaskKey key) const override;
  base::Result<task::TaskHead> find(const task::TaskRef& ref) const override;
  base::Result<task::Task> read(task::TaskKey key, const task::Depth& depth,
                                std::optional<task::EventNumber> as_of = {}) const override;
  base::Result<std::vector<task::Event>> events(task::TaskKey key, task::EventNumber after,
                                                int limit) const override;
  base::Result<TurnInput> turn_input(task::TaskKey key, task::EventNumber message) const override;
  base::Result<ContextRecord> context(task::ContextKey context, task::TaskKey task,
                                      task::EventNumber unanswered, int limit) const override;
  base::Result<Opening> opening(const task::ContextRef& context) const override;
  base::Result<std::optional<Stop>> stop_after(task::TaskKey key, task::EventNumber number) const override;
  base::Result<task::EventNumber> stop_before(task::TaskKey key, task::EventNumber number) const override;
  base::Result<EarlierSend> earlier_send(const task::SendDigest& digest) const override;
  base::Result<ListPage> list(const task::ListFilter& filter) const override;
  base::Result<std::vector<task::TaskHead>> open_tasks(Open which, task::TaskKey key,
                                                       int limit) const override;

  base::Result<std::vector<Delivery>> due_deliveries(base::Timestamp now, int limit) const override;
  base::Result<std::optional<base::Timestamp>> next_due() const override;
  base::Result<void> record(const DeliveryResult& result) override;
  void expect(const std::vector<DeliveryKey>& keys) override;
  base::Result<std::vector<task::PushConfig>> configs(task::TaskKey task) const override;
  base::Result<Counts> delivery_counts() const override;

  base::Result<std::vector<task::TaskHead>> all_tasks(task::TaskKey after, int limit) const override;
  base::Result<task::TaskKey> last_made(base::Timestamp time) const override;
  base::Result<std::vector<TreeMember>> tree(task::TaskKey root, int most) const override;
  base::Result<std::vector<task::TaskHead>> in_context(const task::ContextRef& context) const override;
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
  base::Result<std::vector<CrashedTurn>> crashed_turns() const override;
  base::Result<std::vector<BulkJob>> bulk_jobs(int limit) const override;
  base::Result<BulkJob> bulk_job(task::BulkJobKey key) const override;
  base::Result<std::vector<BulkItem>> bulk_items(task::BulkJobKey job, task::TaskKey after, int limit,
                                                 bool open) const override;
  base::Result<std::vector<ApiKey>> api_keys() const override;
  base::Result<ApiKey> api_key(const std::string& id) const override;
  base::Result<std::int64_t> api_keys_state() const override;
  base::Result<void> write(const OperatorWrite& write) override;

 protected:
  // The state contains the writing connection.
  virtual WriteState& state() const = 0;
  virtual const RecentSends& recent_sends() const = 0;
  // Operators have connections of their own, so that callers' reads do not wait for the operators' long
  // reads.
  virtual ConnectionPool& readers() const = 0;
  virtual ConnectionPool& operators() const = 0;
  // Commits the open group, whose totals are already written. Throws Failure. `is_empty`: no change was
  // applied since the last commit; a transaction is open nevertheless.
  virtual void commit_group(bool is_empty) = 0;
  // Adds the writes of `work` to the open group, as `apply` does.
  base::Result<void> in_group(const char* doing, const std::function<base::Result<void>()>& work);

 private:
  void take_back();
  template <class F>
  auto writing(const char* doing, F&& work) -> decltype(work());
  template <class F>
  auto reading(const char* doing, F&& work) const;
  template <class T, class F>
  base::Result<T> looking(const char* doing, F&& work) const;

  bool group_is_open_ = false;
};

}  // namespace baton::store::sql
