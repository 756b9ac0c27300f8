// MemoryDeliveryStore and MemoryTasks: what the notifier needs of the stores, in memory. Threads: any.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "store/task_store.h"

namespace baton::test {

class MemoryDeliveryStore final : public store::DeliveryStore {
 public:
  struct Entry {
    store::Delivery delivery;
    bool open = true;
    bool given_up = false;
    std::string error;
    std::vector<base::Timestamp> retries;  // when each further attempt was to be
  };

  // Due at once. The config's id tells configs of one task apart.
  void add(task::TaskKey task, task::EventNumber event, const task::PushConfig& config, base::Timestamp now);
  // The next so many results are refused.
  void fail_records(int count);

  // By (task, event), of all configs, in the order they were added.
  std::vector<Entry> entries() const;
  // Whether this came true of the entries within a time that is more than enough.
  bool wait_until(const std::function<bool(const std::vector<Entry>&)>& condition);
  bool wait_until_settled();
  int records_refused() const;

  base::Result<std::vector<store::Delivery>> due_deliveries(base::Timestamp now, int limit) const override;
  base::Result<std::optional<base::Timestamp>> next_due() const override;
  void record(store::DeliveryResult result, std::function<void(base::Result<void>)> done) override;
  base::Result<Counts> delivery_counts() const override;

 private:
  std::vector<const Entry*> heads() const;  // under mutex_

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Entry> entries_;
  std::map<std::string, store::PushConfigKey> config_keys_;
  int records_to_fail_ = 0;
  int records_refused_ = 0;
};

// Every task exists: key 7 is called "task-7", its status text is the number of the event it is read as of,
// and it is one of mallory's or, from a key on, of alice's.
class MemoryTasks : public store::TaskStore {
 public:
  // This one is gone.
  task::TaskKey deleted;
  task::TaskKey alices_from{1'000'000};

  base::Result<task::Task> read(task::TaskKey key, const task::Depth& depth,
                                std::optional<task::EventNumber> as_of) const override;

  base::Result<task::Task> read(const task::TaskRef& ref, const task::Depth& depth) const override;

  using TaskStore::commit;
  void commit(task::Change change, store::CommitCallback done, store::EarlyCallback early) override;
  base::Result<task::TaskHead> head(const task::TaskRef& ref) const override;
  base::Result<task::TaskHead> head(task::TaskKey key) const override;
  base::Result<std::vector<task::Event>> events(task::TaskKey key, task::EventNumber after,
                                                int limit) const override;
  bool after_change(task::TaskKey, std::function<void()>) override { return false; }
  base::Result<store::TurnInput> turn_input(task::TaskKey key, task::EventNumber message) const override;
  base::Result<task::EventNumber> next_message(task::TaskKey key, task::EventNumber after) const override;
  base::Result<std::vector<task::Message>> conversation(task::ContextKey context, task::TaskKey before_task,
                                                        task::EventNumber before, int limit) const override;
  base::Result<std::vector<task::TaskHead>> unfinished(task::TaskKey after, int limit) const override;
  base::Result<std::vector<task::TaskHead>> open_children(task::TaskKey parent) const override;
  base::Result<std::vector<task::TaskHead>> orphans() const override;
  base::Result<store::EarlierSend> earlier_send(const task::SendDigest& digest) const override;
  base::Result<task::Event> first_stop(task::TaskKey key, task::EventNumber after) const override;
  base::Result<task::EventNumber> last_stop(task::TaskKey key, task::EventNumber before) const override;
  base::Result<std::vector<std::string>> call_ids(task::ContextKey context) const override;
  base::Result<store::ListPage> list(const task::ListFilter& filter) const override;
  void set_push(task::TaskKey key, task::PushConfig config, int configs_max,
                std::function<void(base::Result<task::PushConfig>)> done) override;
  base::Result<std::vector<task::PushConfig>> push_configs(task::TaskKey key) const override;
  void delete_push(task::TaskKey key, task::PushConfigId id,
                   std::function<void(base::Result<void>)> done) override;
  void probe(std::function<void(base::Result<void>)> done) override;
};

}  // namespace baton::test
