// MemoryDeliveries: a queue of deliveries in memory, for the notifier. Threads: any.
//
// Every task but `deleted` exists. The task with key 7 has the id "task-7". Its status text is the number of
// the event that it is read as of. It belongs to mallory or, from the key `alices_from` on, to alice.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "notify/delivery_queue.h"

namespace baton::test {

class MemoryDeliveries : public notify::DeliveryQueue {
 public:
  struct Entry {
    store::Delivery delivery;
    bool open = true;
    bool given_up = false;
    std::string error;
    std::vector<base::Timestamp> retries;  // the due times of further attempts
  };

  task::TaskKey deleted;  // reading this task fails with task_not_found
  task::TaskKey alices_from{1'000'000};

  // Adds a delivery that is due at `now`. The configs of a task differ by their ids.
  void add(task::TaskKey task, task::EventNumber event, const task::PushConfig& config, base::Timestamp now);
  // The next `count` calls of `record` fail with `code`.
  void fail_records(int count, base::ErrorCode code = base::ErrorCode::unavailable);

  // The deliveries of all configs, in the order they were added.
  std::vector<Entry> entries() const;
  // Waits until `condition` holds for the entries; false on timeout.
  bool wait_until(const std::function<bool(const std::vector<Entry>&)>& condition);
  bool wait_until_settled();
  int records_refused() const;

  base::Result<std::vector<store::Delivery>> due_deliveries(base::Timestamp now, int limit) const override;
  base::Result<std::optional<base::Timestamp>> next_due() const override;
  void record(store::DeliveryResult result, std::function<void(base::Result<void>)> done) override;
  base::Result<store::DeliveryStore::Counts> delivery_counts() const override;
  base::Result<task::TaskHead> head(task::TaskKey key) const override;
  base::Result<task::Task> read(task::TaskKey key, const task::Depth& depth,
                                std::optional<task::EventNumber> as_of) const override;
  base::Result<std::vector<task::Event>> events(task::TaskKey key, task::EventNumber after,
                                                int limit) const override;

 private:
  std::vector<const Entry*> heads() const;  // call with mutex_ held

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Entry> entries_;
  std::map<std::string, store::PushConfigKey> config_keys_;
  int records_to_fail_ = 0;
  base::ErrorCode record_error_ = base::ErrorCode::unavailable;
  int records_refused_ = 0;
};

}  // namespace baton::test
