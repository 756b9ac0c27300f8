// Deliveries: the notifier's queue, of the store's deliveries. Results are written with the engine's groups.
#pragma once

#include <utility>

#include "engine/inbox.h"
#include "engine/task_reader.h"
#include "notify/delivery_queue.h"

namespace baton::engine {

class Deliveries final : public notify::DeliveryQueue {
 public:
  Deliveries(const store::DeliveryStore& store, const TaskReader& reader, Inbox& inbox)
      : store_(store), reader_(reader), inbox_(inbox) {}

  base::Result<std::vector<store::Delivery>> due_deliveries(base::Timestamp now, int limit) const override {
    return reader_.due_deliveries(now, limit);
  }
  base::Result<std::optional<base::Timestamp>> next_due() const override { return store_.next_due(); }
  base::Result<store::DeliveryStore::Counts> delivery_counts() const override {
    return store_.delivery_counts();
  }
  base::Result<task::TaskHead> head(task::TaskKey key) const override { return reader_.head(key); }
  base::Result<task::Task> read(task::TaskKey key, const task::Depth& depth,
                                std::optional<task::EventNumber> as_of) const override {
    return reader_.read(key, depth, as_of);
  }
  base::Result<std::vector<task::Event>> events(task::TaskKey key, task::EventNumber after,
                                                int limit) const override {
    return reader_.events(key, after, limit);
  }
  void record(store::DeliveryResult result, std::function<void(base::Result<void>)> done) override {
    inbox_.record(std::move(result), std::move(done));
  }

 private:
  const store::DeliveryStore& store_;
  const TaskReader& reader_;
  Inbox& inbox_;
};

}  // namespace baton::engine
