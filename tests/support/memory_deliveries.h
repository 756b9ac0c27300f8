// MemoryDeliveries: a queue of deliveries in memory, for the notifier. Threads: any.
//
// Every task exists: key 7 is called "task-7", its status text is the number of the event it is read as of,
// and it is one of mallory's or, from a key on, of alice's.
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
    std::vector<base::Timestamp> retries;  // when each further attempt was to be
  };

  task::TaskKey deleted;  // this task is gone
  task::TaskKey alices_from{1'000'000};

  // Due at once. The config's id tells configs of one task apart.
  void add(task::TaskKey task, task::EventNumber event, const task::PushConfig& config, base::Timestamp now);
  // The next so many results are refused.
  void fail_records(int count, base::ErrorCode code = base::ErrorCode::unavailable);

  // By (task, event), of all configs, in the order they were added.
  std::vector<Entry> entries() const;
  // Whether this came true of the entries within a time that is more than enough.
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
  std::vector<const Entry*> heads() const;  // under mutex_

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Entry> entries_;
  std::map<std::string, store::PushConfigKey> config_keys_;
  int records_to_fail_ = 0;
  base::ErrorCode record_error_ = base::ErrorCode::unavailable;
  int records_refused_ = 0;
};

}  // namespace baton::test
