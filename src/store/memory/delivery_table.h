// DeliveryTable: the webhook configs of all tasks and their deliveries, for the MemoryStore.
//
// Threads: guarded by its owner.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "store/task_store.h"

namespace baton::store::memory {

// The open group's changes to deliveries and configs. The tables do not have them yet.
struct OpenResults {
  std::set<DeliveryKey> settled;    // delivered or given up
  std::set<PushConfigKey> dropped;  // configs that were deleted
};

class DeliveryTable {
 public:
  // Adds a config of this task, or replaces the one with this key.
  void put(PushConfigKey key, const task::TaskHead& task, const task::PushConfig& config);
  void drop(PushConfigKey key);
  void add(PushConfigKey key, task::EventNumber event, base::Timestamp at);
  // Skips the keys of this many deliveries.
  void pass_over(std::size_t deliveries) { last_.value += static_cast<std::int64_t>(deliveries); }
  // Checks that a result of this delivery may be recorded. Fails like DeliveryStore::record.
  base::Result<void> check(DeliveryKey key, const OpenResults& open) const;
  void record(const DeliveryResult& result, base::Timestamp now);

  // Whether a delivery of this config is neither delivered nor given up.
  bool waits(PushConfigKey key) const { return !configs_.at(key).waiting.empty(); }
  // Fails with not_found if the order concerns none of the task's deliveries.
  base::Result<void> check(task::TaskKey task, const task::DeliveryOrder& order) const;
  void follow(task::TaskKey task, const task::DeliveryOrder& order, base::Timestamp now);

  // Returns a copy of the table with this task only, to try changes on. It has the same keys; call its
  // `pass_over` for deliveries that are added to other tasks.
  DeliveryTable part_of(task::TaskKey task) const;
  // Returns 0 if there is no such delivery.
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
  // Returns all deliveries, in order of their keys.
  std::vector<Row> rows() const;

  // Returns the config. Its last_error is that of the newest event that was attempted.
  task::PushConfig config(PushConfigKey key) const;
  // As documented in DeliveryStore.
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
    std::string account;  // shares the places in a result of `due`
    task::PushConfig config;
    std::deque<Waiting> waiting;  // in the order of their events
    std::vector<Waiting> gave_up, delivered;
    std::vector<DeliveryKey> deliveries;  // all of the config, in any state
    base::Timestamp due{};                // of the first in `waiting`
  };
  // Whether the order concerns this delivery. `waits`: it waits, else it was given up. `is_first`: it waits
  // as the first of its config.
  static bool concerns(const task::DeliveryOrder& order, DeliveryKey key, bool waits, bool is_first);
  void resend(PushConfigKey key, Config& config, const task::DeliveryOrder& order, base::Timestamp now);
  void skip(PushConfigKey key, Config& config, const task::DeliveryOrder& order, base::Timestamp now);

  void make_due(PushConfigKey key, Config& config, base::Timestamp due);
  void make_not_due(PushConfigKey key, const Config& config);
  static Delivery delivery(PushConfigKey key, const Config& config);

  std::map<PushConfigKey, Config> configs_;
  std::map<DeliveryKey, PushConfigKey> config_of_;  // of existing configs
  DeliveryKey last_;
  // The first waiting delivery of each config.
  std::set<std::tuple<base::Timestamp, DeliveryKey, PushConfigKey>> due_;
  DeliveryStore::Counts counts_;
};

}  // namespace baton::store::memory
