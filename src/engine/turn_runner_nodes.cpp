// TurnRunner and the other nodes that share the store: whose turn it is.
#include <spdlog/spdlog.h>

#include "base/loggable.h"
#include "engine/turn_runner.h"

namespace baton::engine {

bool TurnRunner::is_ours(const store::TaskRow& row) const {
  return options_.peers == nullptr || !row.owner || row.owner == options_.peers->self();
}

std::vector<task::TaskKey> TurnRunner::running_tasks() const {
  return running_.with([](const auto& running) {
    std::vector<task::TaskKey> tasks;
    tasks.reserve(running.size());
    for (const auto& [task, run] : running) tasks.push_back(task);
    return tasks;
  });
}

task::EventNumber TurnRunner::last_event(task::TaskKey task) const {
  const auto run = running_turn(task);
  return run ? run->head().last_event : task::EventNumber();
}

void TurnRunner::changed_elsewhere(const store::TaskEnd& now) {
  if (now.owner == options_.peers->self() && !now.answered.empty()) {
    if (const auto question = questions_.answer(now.task, now.answered))
      children_.pass_on_logged(now.task, *question);
  }
  const auto run = running_turn(now.task);
  // What this node has stored since is newer.
  if (!run || now.version < run->head().version) return;
  if (now.owner != options_.peers->self()) {
    spdlog::info("task={} agent={} its turn goes on elsewhere", base::loggable_word(run->head().id.value),
                 run->head().agent.value);
    return run->abandon();
  }
  if (!now.cancel_requested) return;
  for (const task::TaskKey child : questions_.asking(now.task)) children_.cancel(child);
  run->cancel({});
}

void TurnRunner::gone_elsewhere(task::TaskKey task) {
  if (const auto run = running_turn(task)) run->abandon();
}

void TurnRunner::take_over(const task::TaskHead& head) {
  if (head.awaited == 0) return go_on(head);
  background_.run([this, head] {
    if (auto resumed = children_.resume(head)) return go_on(head);
    background_.timers().after(options_.disk_retry, [this, head] { take_over(head); });
  });
}

}  // namespace baton::engine
