// DeliveryTable: the webhooks of all tasks and what waits to be sent to them, for the MemoryStore.
//
// Threads: as its owner guards it.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "store/task_store.h"

namespace baton::store::memory {

// What the open group has done that is not in the tables yet.
struct OpenResults {
  std::set<DeliveryKey> settled;    // delivered or given up
  std::set<PushConfigKey> dropped;  // configs
};

class DeliveryTable {
 public:
  // Adds a config of this task, or replaces the one with this key.
  void put(PushConfigKey key, const task::TaskHead& task, const task::PushConfig& config);
  void drop(PushConfigKey key);
  void add(PushConfigKey key, task::EventNumber event, base::Timestamp at);
  // Leaves out the keys of so many deliveries.
  void pass_over(std::size_t deliveries) { last_.value += static_cast<std::int64_t>(deliveries); }
  // Whether `record` may take a result of this delivery; fails as DeliveryStore::record does.
  base::Result<void> check(DeliveryKey key, const OpenResults& open) const;
  void record(const DeliveryResult& result, base::Timestamp now);

  // Whether a delivery of this config is neither delivered nor given up.
  bool waits(PushConfigKey key) const { return !configs_.at(key).waiting.empty(); }
  // Whether there is something to do: not_found if not.
  base::Result<void> check(task::TaskKey task, const task::DeliveryOrder& order) const;
  void follow(task::TaskKey task, const task::DeliveryOrder& order, base::Timestamp now);

  // What there is of one task, under the same keys: shows what changes would do to it. For what is added
  // to other tasks, call `pass_over`.
  DeliveryTable part_of(task::TaskKey task) const;
  // 0 if there is no such delivery.
  task::TaskKey task_of(DeliveryKey key) const;

  // A delivery as operators see it.
  struct Row {
    DeliveryKey key;
    task::TaskKey task;
    task::EventNumber event;
    std::string url, state;
    int attempts = 0;
    base::Timestamp created{};
    std::optional<base::Timestamp> due;
    std::string error;
  };
  // In order of keys.
  std::vector<Row> rows() const;

  // With the error of the last event of which there was an attempt.
  task::PushConfig config(PushConfigKey key) const;
  // As DeliveryStore has them.
  std::vector<Delivery> due(base::Timestamp now, int limit) const;
  std::optional<base::Timestamp> next_due() const;
  DeliveryStore::Counts counts() const { return counts_; }

 private:
  struct Waiting {
    DeliveryKey key;
    task::EventNumber event;
    int attempts;
    base::Timestamp created;
    std::string error = {};
  };
  struct Config {
    task::TaskKey task;
    std::string account;  // whose share of the places its deliveries take
    task::PushConfig config;
    std::deque<Waiting> waiting;  // in the order of their events
    std::vector<Waiting> gave_up, delivered;
    std::vector<DeliveryKey> deliveries;  // all that it has had
    base::Timestamp due{};                // of the first that waits
  };
  // Whether the order is about this one, which waits in this place or was given up.
  static bool concerns(const task::DeliveryOrder& order, DeliveryKey key, bool waits, bool is_first);
  void resend(PushConfigKey key, Config& config, const task::DeliveryOrder& order, base::Timestamp now);
  void skip(PushConfigKey key, Config& config, const task::DeliveryOrder& order, base::Timestamp now);

  void make_due(PushConfigKey key, Config& config, base::Timestamp due);
  void make_not_due(PushConfigKey key, const Config& config);
  static Delivery delivery(PushConfigKey key, const Config& config);

  std::map<PushConfigKey, Config> configs_;
  std::map<DeliveryKey, PushConfigKey> config_of_;  // of configs that are there
  DeliveryKey last_;
  std::set<std::tuple<base::Timestamp, DeliveryKey, PushConfigKey>> due_;  // the first of each config
  DeliveryStore::Counts counts_;
};

}  // namespace baton::store::memory
