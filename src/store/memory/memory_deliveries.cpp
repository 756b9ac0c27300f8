// MemoryStore's side of DeliveryStore.
#include "store/memory/memory_store.h"

namespace baton::store {

using base::Result;
using memory::MemoryTask;

// An order of this group is not seen by another one of it, so what is skipped counts as settled.
Result<void> MemoryStore::check_order(task::TaskKey key, const task::Change& change) {
  if (!change.deliveries) return {};
  auto checked = state_.with([&](const State& state) {
    return state.tables.deliveries().check(key, *change.deliveries, group_.results);
  });
  const bool skips = change.deliveries->kind == task::DeliveryOrder::Kind::skip;
  if (checked && skips && change.deliveries->delivery != 0)
    group_.results.settled.insert(DeliveryKey{change.deliveries->delivery});
  return checked;
}

Result<void> MemoryStore::record(const DeliveryResult& result) {
  const auto checked = state_.with(
      [&](const State& state) { return state.tables.deliveries().check(result.key, group_.results); });
  if (!checked) return checked;
  if (result.kind != DeliveryResult::Kind::retry) group_.results.settled.insert(result.key);
  group_.entries.emplace_back(memory::Recorded{result, now()});
  return {};
}

Result<std::vector<Delivery>> MemoryStore::due_deliveries(base::Timestamp now, int limit) const {
  return state_.with([&](const State& state) {
    std::vector<Delivery> due = state.tables.deliveries().due(now, limit);
    for (Delivery& delivery : due) {
      for (const auto& [number, request] : state.tables.task(delivery.task)->requests) {
        if (number.value <= delivery.event.value + 1 && !request.trace.empty())
          delivery.trace = request.trace;
      }
    }
    return due;
  });
}

Result<std::optional<base::Timestamp>> MemoryStore::next_due() const {
  return state_.with([](const State& state) { return state.tables.deliveries().next_due(); });
}

Result<std::vector<task::PushConfig>> MemoryStore::configs(task::TaskKey key) const {
  return state_.with([&](const State& state) {
    std::vector<task::PushConfig> found;
    const MemoryTask* task = state.tables.task(key);
    if (task == nullptr) return found;
    for (const TaskRow::Config& config : task->configs) {
      found.push_back(state.tables.deliveries().config(config.key));
    }
    return found;
  });
}

Result<DeliveryStore::Counts> MemoryStore::delivery_counts() const {
  return state_.with([](const State& state) { return state.tables.deliveries().counts(); });
}

}  // namespace baton::store
