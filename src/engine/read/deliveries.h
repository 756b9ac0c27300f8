// Deliveries: the notifier's queue, which reads the store's deliveries. Results are written with the engine's
// groups. Among nodes that share a store, each has the deliveries that it made due and those of nodes that
// are gone.
//
// Threads: as notify::DeliveryQueue.
#pragma once

#include <utility>

#include "engine/decide/inbox.h"
#include "engine/read/task_reader.h"
#include "notify/delivery_queue.h"

namespace baton::engine {

class Deliveries final : public notify::DeliveryQueue {
 public:
  // `peers`: null if the store is not shared.
  Deliveries(const store::DeliveryStore& store, const TaskReader& reader, Inbox& inbox,
             const base::Clock& clock, const store::Peers* peers)
      : store_(store), reader_(reader), inbox_(inbox), clock_(clock), peers_(peers) {}

  base::Result<std::vector<store::Delivery>> due_deliveries(base::Timestamp now, int limit) const override {
    return reader_.due_deliveries(now, limit);
  }
  base::Result<std::optional<base::Timestamp>> next_due() const override {
    auto next = store_.next_due();
    if (peers_ == nullptr || !next) return next;
    // Deliveries of a node that is gone become this one's without a notification, so look again soon.
    const base::Timestamp soon = clock_.now() + kLookEvery;
    return *next && **next < soon ? **next : soon;
  }
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
  static constexpr std::chrono::milliseconds kLookEvery{500};

  const store::DeliveryStore& store_;
  const TaskReader& reader_;
  Inbox& inbox_;
  const base::Clock& clock_;
  const store::Peers* const peers_;
};

}  // namespace baton::engine
