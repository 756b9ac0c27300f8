// MemoryStore's side of RetentionStore.
#include <algorithm>

#include "store/memory/memory_store.h"

namespace baton::store {

using base::Result;
using memory::MemoryTask;

Result<std::vector<task::TaskHead>> MemoryStore::all_tasks(task::TaskKey after, int limit) const {
  return state_.with([&](const State& state) { return state.tables.all_tasks(after, limit); });
}

Result<task::TaskKey> MemoryStore::last_made(base::Timestamp time) const {
  return state_.with([&](const State& state) { return state.tables.last_made(time); });
}

Result<std::vector<TreeMember>> MemoryStore::tree(task::TaskKey root, int most) const {
  auto members = state_.with([&](const State& state) { return state.tables.tree(root); });
  if (std::ssize(members) <= most) return members;
  return base::fail(base::ErrorCode::too_large, "the tree is too large");
}

Result<std::vector<task::TaskHead>> MemoryStore::in_context(const task::ContextRef& context) const {
  return state_.with([&](const State& state) { return state.tables.in_context(context); });
}

// Not what the open group has to do with.
bool MemoryStore::may_go(const memory::Tables& tables, const Removal::One& one, bool erases) const {
  const MemoryTask* task = tables.task(one.task);
  if (task == nullptr || group_.gone.contains(one.task)) return false;
  const task::TaskHead& head = task->head;
  const bool is_busy = std::ranges::any_of(group_.entries, [&](const memory::Entry& entry) {
    const auto* step = std::get_if<memory::Step>(&entry);
    if (step == nullptr) return false;
    return step->head.key == one.task || step->head.parent == one.task ||
           (head.parent && step->head.key == head.parent);
  });
  const MemoryTask* parent = head.parent ? tables.task(head.parent) : nullptr;
  // It may have begun anew since it was looked at.
  const bool goes_on = parent != nullptr && !has_ended(parent->head);
  const bool delivers = std::ranges::any_of(
      task->configs, [&](const TaskRow::Config& config) { return tables.deliveries().waits(config.key); });
  return !is_busy && !goes_on && head.version == one.version && has_ended(head) &&
         !tables.has_children(one.task, group_.gone) && (erases || !delivers);
}

Result<std::vector<Removed>> MemoryStore::remove(const Removal& removal) {
  std::vector<Removed> removed;
  memory::Gone entry;
  state_.with([&](const State& state) {
    for (const Removal::One& one : removal.tasks) {
      if (!may_go(state.tables, one, removal.erases)) continue;
      const task::TaskHead& head = state.tables.task(one.task)->head;
      removed.push_back({one.task, head.caller, head.bytes});
      entry.tasks.push_back(one.task);
      group_.gone.insert(one.task);
    }
  });
  group_.entries.emplace_back(std::move(entry));
  return removed;
}

}  // namespace baton::store
