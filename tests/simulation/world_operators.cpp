// World: its operators.
#include "call.h"
#include "world.h"

namespace baton::simulation {

// An operator who requeues running turns, on any node.
void World::requeue_some() {
  while (!calm_) {
    fibers.sleep(milliseconds(random.below(3'000)));
    std::vector<task::TaskKey> running;
    for (const auto& [key, task] : model.tasks()) {
      if (!task.gone && task.head().turn_state == task::TurnState::running) running.push_back({key});
    }
    if (calm_ || running.empty() || up() == nullptr) continue;
    const task::TaskKey key = random.pick(running);
    model.note_requeue(key);
    call<bool>(*this, "requeue", [this, key](Process& process, const std::function<void(bool)>& done) {
      process.engine().operator_actions().requeue(key, {"olga", "it hangs", {}},
                                                  [this](const base::Result<task::TaskHead>& head) {
                                                    if (head && head->turn_state == task::TurnState::running)
                                                      SOMETIMES(running_turn_requeued);
                                                  });
      done(true);
    });
  }
}

// An operator who deletes tasks, those that have ended and those that have not.
void World::erase_some() {
  using Erased = base::Result<engine::Erasure::Erased>;
  while (!calm_) {
    fibers.sleep(milliseconds(random.below(2'000)));
    std::vector<task::TaskKey> roots;
    for (const auto& [key, task] : model.tasks()) {
      if (!task.gone && !task.head().parent) roots.push_back({key});
    }
    if (calm_ || roots.empty() || up() == nullptr) continue;
    const task::TaskKey key = random.pick(roots);
    // Does not wait for the result: a process that drains meanwhile never gives one.
    call<bool>(*this, "erase", [this, key](Process& process, const std::function<void(bool)>& done) {
      const engine::Actor olga{"olga", "asked for", {}};
      process.engine().erasure()->erase_task(key, olga, [this, key](const Erased& erased) {
        if (!erased) SOMETIMES(erasure_refused);
        if (erased && erased->left == 0 && !model.is_gone(key)) fibers.fail("an erased task is there");
      });
      done(true);
    });
  }
}

}  // namespace baton::simulation
