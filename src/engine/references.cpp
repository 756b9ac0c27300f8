#include "engine/references.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

namespace baton::engine {
namespace {

// Takes `bytes` from `room` if they fit.
bool fits(std::size_t bytes, std::size_t& room) {
  if (bytes > room) return false;
  room -= bytes;
  return true;
}

// Artifacts come before history: they are the result of a task.
void cut_to(task::Task& task, std::size_t& room) {
  const auto too_many =
      std::find_if_not(task.artifacts.begin(), task.artifacts.end(),
                       [&](const task::Artifact& artifact) { return fits(task::weight_of(artifact), room); });
  task.artifacts.erase(too_many, task.artifacts.end());
  const auto too_old =
      std::find_if_not(task.history.rbegin(), task.history.rend(),
                       [&](const task::Message& message) { return fits(task::weight_of(message), room); });
  task.history.erase(task.history.begin(), too_old.base());
}

}  // namespace

base::Result<std::vector<task::Task>> referenced_tasks(const TaskReader& reader, const task::TaskHead& head,
                                                       const task::Message& message,
                                                       const ReferenceBounds& bounds) {
  std::vector<task::Task> found;
  std::unordered_set<task::TaskId> named{head.id};
  std::size_t room = bounds.bytes;
  for (const task::TaskId& id : message.reference_tasks) {
    if (std::ssize(named) > bounds.tasks) break;
    if (!named.insert(id).second) continue;
    const auto other = reader.head({head.caller, head.agent, id});
    if (!other && other.error().code == base::ErrorCode::task_not_found) continue;
    if (!other) return base::fail(other.error());
    auto task = reader.read(other->key, task::Depth{bounds.history, true});
    if (!task) return base::fail(std::move(task.error()));
    cut_to(*task, room);
    found.push_back(std::move(*task));
  }
  return found;
}

}  // namespace baton::engine
