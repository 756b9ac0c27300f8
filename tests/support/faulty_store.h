// FaultyStore: wraps a store and fails according to a plan. For tests and the simulator.
//
// Calls without a planned fault go to the inner store. Among reads, only those of contexts and of all API
// keys can fail. Threads: as for TaskStore. The plan and its hooks are called on the thread that writes or
// flushes; hooks may block.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "store/operator_store.h"
#include "store/retention_store.h"
#include "store/task_store.h"

namespace baton::store {

// The faults of one group. An empty commit is a group too.
struct GroupFaults {
  // The number of changes, titles, delivery results and removals that are applied. The next one fails, and
  // the group is lost.
  std::optional<int> applied_max;
  base::ErrorCode failure = base::ErrorCode::unavailable;  // the error of that failure; or internal
  // The commit fails before anything has happened.
  bool commit_fails = false;
  base::ErrorCode commit_failure = base::ErrorCode::unavailable;  // or raced
  std::function<void()> before_commit;  // a late commit: nothing is committed yet, or all was rolled back
  std::function<void()> after_commit;   // a late answer: the group is committed, its writer not informed
};

// The faults of one flush.
struct FlushFaults {
  bool fails = false;                 // with unavailable
  bool happens_all_the_same = false;  // the data is durable although the flush fails
  std::function<void()> before;       // a late flush
};

// Groups and flushes are numbered from 1.
struct FaultPlan {
  std::function<GroupFaults(int group)> group = [](int) { return GroupFaults(); };
  std::function<FlushFaults(int flush)> flush = [](int) { return FlushFaults(); };
  std::function<bool()> context_fails = [] { return false; };  // with unavailable; on any thread
  std::function<bool()> api_keys_fail = [] { return false; };  // likewise; may throw
};

// The number of groups, or flushes, per thousand that have a fault.
struct FaultRates {
  int apply = 0, apply_internal = 0;
  int commit = 0, late_commit = 0, late_answer = 0;
  int flush = 0, late_flush = 0;
};
// Returns random faults, which are the same for the same seed and number. `late` is the hook of everything
// late.
FaultPlan faults_by_chance(std::uint64_t seed, const FaultRates& rates, const std::function<void()>& late);

class FaultyStore final : public TaskStore,
                          public DeliveryStore,
                          public OperatorStore,
                          public RetentionStore {
 public:
  // `roll_back` rolls back the inner store's open group. All arguments passed by reference must outlive the
  // store.
  FaultyStore(TaskStore& tasks, DeliveryStore& deliveries, OperatorStore& operators,
              std::function<void()> roll_back, FaultPlan plan);

  // Sets the store that the RetentionStore calls go to; without it they must not be used. Call before the
  // store is used.
  void set_retention(RetentionStore& store) { retention_ = &store; }

  base::Result<Committed> apply(task::Change& change, TaskRow& row) override;
  base::Result<void> entitle(const task::ContextRef& context, const std::string& title) override;
  base::Result<void> commit() override;
  base::Result<void> flush() override;
  base::Result<void> record(const DeliveryResult& result) override;
  void expect(const std::vector<DeliveryKey>& keys) override { deliveries_.expect(keys); }

  base::Result<TaskRow> row(task::TaskKey key) const override { return tasks_.row(key); }
  base::Result<task::TaskHead> find(const task::TaskRef& ref) const override { return tasks_.find(ref); }
  base::Result<task::Task> read(task::TaskKey key, const task::Depth& depth,
                                std::optional<task::EventNumber> as_of = {}) const override {
    return tasks_.read(key, depth, as_of);
  }
  base::Result<std::vector<task::Event>> events(task::TaskKey key, task::EventNumber after,
                                                int limit) const override {
    return tasks_.events(key, after, limit);
  }
  base::Result<TurnInput> turn_input(task::TaskKey key, task::EventNumber message) const override {
    return tasks_.turn_input(key, message);
  }
  base::Result<ContextRecord> context(task::ContextKey context, task::TaskKey task,
                                      task::EventNumber unanswered, int limit) const override {
    if (plan_.context_fails()) return base::fail(base::ErrorCode::unavailable, "a fault of the plan");
    return tasks_.context(context, task, unanswered, limit);
  }
  base::Result<Opening> opening(const task::ContextRef& context) const override {
    return tasks_.opening(context);
  }
  base::Result<std::optional<Stop>> stop_after(task::TaskKey key, task::EventNumber number) const override {
    return tasks_.stop_after(key, number);
  }
  base::Result<task::EventNumber> stop_before(task::TaskKey key, task::EventNumber number) const override {
    return tasks_.stop_before(key, number);
  }
  base::Result<EarlierSend> earlier_send(const task::SendDigest& digest) const override {
    return tasks_.earlier_send(digest);
  }
  base::Result<ListPage> list(const task::ListFilter& filter) const override { return tasks_.list(filter); }
  base::Result<std::vector<task::TaskHead>> open_tasks(Open which, task::TaskKey key,
                                                       int limit) const override {
    return tasks_.open_tasks(which, key, limit);
  }

  base::Result<std::vector<Delivery>> due_deliveries(base::Timestamp now, int limit) const override {
    return deliveries_.due_deliveries(now, limit);
  }
  base::Result<std::optional<base::Timestamp>> next_due() const override { return deliveries_.next_due(); }
  base::Result<std::vector<task::PushConfig>> configs(task::TaskKey task) const override {
    return deliveries_.configs(task);
  }
  base::Result<Counts> delivery_counts() const override { return deliveries_.delivery_counts(); }

  base::Result<TaskPage> page(const TaskQuery& query) const override { return operators_.page(query); }
  base::Result<TaskCount> count(const TaskFilter& filter) const override { return operators_.count(filter); }
  base::Result<std::vector<AgentCounts>> counts_by_agent() const override {
    return operators_.counts_by_agent();
  }
  base::Result<TaskLine> line(task::TaskKey key) const override { return operators_.line(key); }
  base::Result<DeliveryPage> deliveries(const DeliveryFilter& filter, std::int64_t before,
                                        int limit) const override {
    return operators_.deliveries(filter, before, limit);
  }
  base::Result<DeliveryLine> delivery(DeliveryKey key) const override { return operators_.delivery(key); }
  base::Result<AuditPage> audit(const AuditFilter& filter, std::int64_t before, int limit) const override {
    return operators_.audit(filter, before, limit);
  }
  base::Result<std::vector<AgentControl>> agent_controls() const override {
    return operators_.agent_controls();
  }
  base::Result<std::vector<CrashedTurn>> crashed_turns() const override { return operators_.crashed_turns(); }
  base::Result<std::vector<BulkJob>> bulk_jobs(int limit) const override {
    return operators_.bulk_jobs(limit);
  }
  base::Result<BulkJob> bulk_job(task::BulkJobKey key) const override { return operators_.bulk_job(key); }
  base::Result<std::vector<BulkItem>> bulk_items(task::BulkJobKey job, task::TaskKey after, int limit,
                                                 bool open) const override {
    return operators_.bulk_items(job, after, limit, open);
  }
  base::Result<std::vector<ApiKey>> api_keys() const override {
    if (plan_.api_keys_fail()) return base::fail(base::ErrorCode::unavailable, "a fault of the plan");
    return operators_.api_keys();
  }
  base::Result<ApiKey> api_key(const std::string& id) const override { return operators_.api_key(id); }
  base::Result<std::int64_t> api_keys_state() const override { return operators_.api_keys_state(); }
  base::Result<void> write(const OperatorWrite& write) override;

  base::Result<std::vector<task::TaskHead>> all_tasks(task::TaskKey after, int limit) const override {
    return retention_->all_tasks(after, limit);
  }
  base::Result<task::TaskKey> last_made(base::Timestamp time) const override {
    return retention_->last_made(time);
  }
  base::Result<std::vector<TreeMember>> tree(task::TaskKey root, int most) const override {
    return retention_->tree(root, most);
  }
  base::Result<std::vector<task::TaskHead>> in_context(const task::ContextRef& context) const override {
    return retention_->in_context(context);
  }
  bool kept_before() const override { return retention_->kept_before(); }
  base::Result<std::vector<Removed>> remove(const Removal& removal) override;
  base::Result<bool> tidy(std::int64_t spare_pages) override;

 private:
  template <class Write>
  auto writing(Write&& write) -> decltype(write());
  GroupFaults& group();

  TaskStore& tasks_;
  DeliveryStore& deliveries_;
  OperatorStore& operators_;
  RetentionStore* retention_ = nullptr;
  const std::function<void()> roll_back_;
  const FaultPlan plan_;
  // Used only by the writing thread.
  std::optional<GroupFaults> group_;  // of the open group
  int groups_ = 0, applied_ = 0;
  // Used only by the flushing thread.
  int flushes_ = 0;
};

}  // namespace baton::store
