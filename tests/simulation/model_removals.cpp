// Model: tasks that are removed from the store, by age or by an operator.
#include <cstdlib>
#include <utility>

#include "marks.h"
#include "model.h"

namespace baton::simulation {
namespace {

[[noreturn]] void violated(const std::string& what) {
  fibers().fail(what);
  std::abort();  // not reached
}

}  // namespace

void Model::removed(task::TaskKey task, bool erases, bool delivers) {
  group_.emplace_back(Removed{task, erases, delivers});
}

void Model::rolled_back() {
  for (const auto& one : group_) {
    if (std::holds_alternative<Removed>(one)) SOMETIMES(removal_rolled_back);
  }
  group_.clear();
}

// A removed task has ended, is below no unfinished task, and leaves no child. By age, it also leaves no
// waiting webhook.
void Model::commit(const Removed& one) {
  Task& task = tasks_[one.task.value];
  const std::string what = "task " + std::to_string(one.task.value) + " was removed ";
  if (task.log.empty() || task.gone) violated(what + "and was not there");
  const auto has_ended = [](const task::TaskHead& head) {
    return task::is_terminal(head.state) && head.turn_state == task::TurnState::none;
  };
  if (!has_ended(task.head())) violated(what + "before its end" + told(task));
  if (one.delivers && !one.erases) violated(what + "while a webhook of it waited");
  for (const auto& [key, other] : tasks_) {
    const bool is_child = !other.log.empty() && !other.gone && other.head().parent == one.task;
    if (is_child) violated(what + "and left its child " + std::to_string(key));
  }
  for (task::TaskKey above = task.head().parent; above;) {
    const auto found = tasks_.find(above.value);
    if (found == tasks_.end() || found->second.log.empty()) break;
    if (!found->second.gone && !has_ended(found->second.head()))
      violated(what + "below a task that has not ended" + told(found->second));
    above = found->second.head().parent;
  }
  task.gone = true;
  task.erased = one.erases;
  gone_unflushed_.insert(one.task.value);
  one.erases ? SOMETIMES(task_erased) : SOMETIMES(task_gone_by_age);
  if (task.head().parent) SOMETIMES(tree_gone);
  fibers().note(static_cast<std::uint64_t>(one.task.value));
}

}  // namespace baton::simulation
