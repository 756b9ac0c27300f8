// DeliveryQueue: gives the notifier due deliveries and their tasks, and stores the results. It returns only
// durable data.
//
// Threads: any. Reads may block on the disk; `done` must not block.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "store/task_store.h"

namespace baton::notify {

class DeliveryQueue {
 public:
  virtual ~DeliveryQueue() = default;

  // As in store::DeliveryStore.
  virtual base::Result<std::vector<store::Delivery>> due_deliveries(base::Timestamp now, int limit) const = 0;
  virtual base::Result<std::optional<base::Timestamp>> next_due() const = 0;
  virtual base::Result<store::DeliveryStore::Counts> delivery_counts() const = 0;
  // The task's facts; the task just after an event; its events. As in engine::TaskReader.
  virtual base::Result<task::TaskHead> head(task::TaskKey key) const = 0;
  virtual base::Result<task::Task> read(task::TaskKey key, const task::Depth& depth,
                                        std::optional<task::EventNumber> as_of) const = 0;
  virtual base::Result<std::vector<task::Event>> events(task::TaskKey key, task::EventNumber after,
                                                        int limit) const = 0;
  // Calls `done` once the result is durable, or with the error that kept it from being stored.
  virtual void record(store::DeliveryResult result, std::function<void(base::Result<void>)> done) = 0;
};

}  // namespace baton::notify
