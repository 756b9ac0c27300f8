// MemoryStore: keeps everything in memory, for as long as the program runs. `--db :memory:`, tests and the
// simulator use it. Its size is limited only by memory.
//
// Threads: see TaskStore. Reads hold one lock while they read the tables, and process logs after releasing
// it.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "base/guarded.h"
#include "store/memory/tables.h"
#include "store/operator_store.h"
#include "store/retention_store.h"
#include "store/task_store.h"

namespace baton::store {

struct MemoryOptions {
  // How long a send is remembered to recognise repetitions.
  base::Duration send_retention = std::chrono::hours(24);
  // Keeps a second copy of the tables with flushed data only, for lose_unflushed. Doubles the memory.
  bool keeps_flushed = false;
};

class MemoryStore final : public TaskStore,
                          public DeliveryStore,
                          public OperatorStore,
                          public RetentionStore {
 public:
  // `clock` must outlive the store.
  explicit MemoryStore(const base::Clock& clock, const MemoryOptions& options = {});

  base::Result<Committed> apply(task::Change& change, TaskRow& row) override;
  base::Result<void> entitle(const task::ContextRef& context, const std::string& title) override;
  base::Result<void> commit() override;
  base::Result<void> flush() override;
  // Discards the open group. Call it on the thread of `apply`.
  void roll_back();
  // Discards everything since the last flush, as a power failure would. Call it on the thread of `apply`,
  // while no flush is in progress. Needs keeps_flushed.
  void lose_unflushed();

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
  base::Result<std::vector<task::PushConfig>> configs(task::TaskKey task) const override;
  base::Result<Counts> delivery_counts() const override;

  base::Result<std::vector<task::TaskHead>> all_tasks(task::TaskKey after, int limit) const override;
  base::Result<task::TaskKey> last_made(base::Timestamp time) const override;
  base::Result<std::vector<TreeMember>> tree(task::TaskKey root, int most) const override;
  base::Result<std::vector<task::TaskHead>> in_context(const task::ContextRef& context) const override;
  bool kept_before() const override { return false; }
  base::Result<std::vector<Removed>> remove(const Removal& removal) override;
  base::Result<bool> tidy(std::int64_t) override { return false; }
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

 private:
  struct State {
    memory::Tables tables;
    std::vector<memory::Entry> unflushed;
    std::optional<memory::Tables> flushed;
  };
  // The open group: entries that are applied but not committed, and the facts about them that later changes
  // are checked against.
  struct Group {
    std::vector<memory::Entry> entries;
    std::vector<task::SendDigest> sends;
    std::set<std::tuple<task::AgentName, task::Caller, task::TaskId>> ids;  // of the new tasks
    std::set<task::TaskKey> tasks;                                          // the new ones
    std::map<memory::Tables::ContextName, task::ContextKey> contexts;
    std::set<task::TaskKey> gone;
    memory::OpenResults results;
    bool has_orders = false;  // delivery orders; then `results` is not enough
    memory::OperatorTable::JobStates jobs;
  };

  base::Timestamp now() { return last_ = std::max(last_, clock_.now()); }
  template <class InGroup, class InTables>
  bool has(InGroup&& in_group, InTables&& in_tables) const;
  base::Result<void> check(const task::Change& change, base::Timestamp at) const;
  base::Result<void> check_key(const OperatorWrite& write);
  base::Result<void> check_order(task::TaskKey key, const task::Change& change);
  memory::DeliveryTable open_deliveries(task::TaskKey task) const;
  bool enter_context(task::TaskHead& head);
  void note_push(const task::Change& change, TaskRow& row, memory::Step& step);
  bool may_go(const memory::Tables& tables, const Removal::One& one, bool erases) const;
  // Returns the task's events above `after`, up to and including `last`.
  std::vector<task::EventPtr> log(task::TaskKey key, task::EventNumber after, task::EventNumber last) const;

  const base::Clock& clock_;
  base::Guarded<State> state_;
  // Used by the writing thread only. Keys are never reused, even if their group is rolled back.
  base::Timestamp last_{};
  Group group_;
  task::TaskKey last_task_;
  task::ContextKey last_context_;
  PushConfigKey last_config_;
};

}  // namespace baton::store
