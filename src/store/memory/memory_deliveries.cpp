// MemoryStore's side of DeliveryStore.
#include "store/memory/memory_store.h"

namespace baton::store {

using base::Result;
using memory::MemoryTask;

// A task's deliveries as the open group leaves them.
memory::DeliveryTable MemoryStore::open_deliveries(task::TaskKey task) const {
  auto open = state_.with([&](const State& state) { return state.tables.deliveries().part_of(task); });
  for (const memory::Entry& entry : group_.entries) {
    if (const auto* recorded = std::get_if<memory::Recorded>(&entry))
      open.record(recorded->result, recorded->at);
    const auto* step = std::get_if<memory::Step>(&entry);
    if (step == nullptr) continue;
    if (step->head.key == task) {
      memory::follow(*step, open);
    } else {
      open.pass_over(step->deliveries.size());
    }
  }
  return open;
}

Result<void> MemoryStore::check_order(task::TaskKey key, const task::Change& change) {
  if (!change.deliveries) return {};
  auto checked = open_deliveries(key).check(key, *change.deliveries);
  group_.has_orders |= checked.has_value();
  return checked;
}

Result<void> MemoryStore::record(const DeliveryResult& result) {
  auto [checked, task] = state_.with([&](const State& state) {
    const memory::DeliveryTable& deliveries = state.tables.deliveries();
    return std::pair(deliveries.check(result.key, group_.results), deliveries.task_of(result.key));
  });
  // Once the group has an order, `results` no longer tells what waits.
  if (group_.has_orders) checked = open_deliveries(task).check(result.key, {});
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
