// Quarantine: this node's turns that may be crashing the program (store::CrashedTurn). A suspect begins only
// while no other suspect runs here; a quarantined turn waits until an operator requeues it.
//
// A turn that is no suspect costs one read of a flag. Threads: any.
#pragma once

#include <atomic>
#include <cstddef>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "task/head.h"

namespace baton::engine {

class Quarantine {
 public:
  // The task's turn is queued, or about to be.
  void suspect(const task::TaskHead& head) {
    state_.with([&](State& state) { state.suspects.insert_or_assign(head.key, head); });
    is_busy_ = true;
  }
  void isolate(task::TaskKey task) {
    state_.with([&](State& state) {
      state.isolated.insert(task);
      isolated_ = state.isolated.size();
    });
  }

  // The task's turn is queued, so it is not quarantined any more.
  void release(task::TaskKey task) {
    if (isolated_ == 0) return;
    state_.with([&](State& state) {
      state.isolated.erase(task);
      isolated_ = state.isolated.size();
    });
  }
  // On a shared store: replaces the quarantined turns with these, which are those of all nodes.
  void set_isolated(const std::vector<task::TaskKey>& tasks) {
    state_.with([&](State& state) {
      state.isolated = {tasks.begin(), tasks.end()};
      isolated_ = state.isolated.size();
    });
  }

  // Returns whether the task's turn may begin. An admitted suspect keeps this right until `clear`; any other
  // suspect is held back until then.
  bool admits(task::TaskKey task) {
    if (!is_busy_) return true;
    return state_.with([&](State& state) {
      if (!state.suspects.contains(task)) return true;
      if (!state.runs) state.runs = task;
      if (state.runs == task) return true;
      state.held.insert(task);
      return false;
    });
  }

  // The task is no longer a suspect: its turn is over, has delegated, or was canceled, or an operator
  // requeued it. Returns the tasks that were held back and must be queued again.
  std::vector<task::TaskHead> clear(task::TaskKey task) {
    release(task);
    if (!is_busy_) return {};
    return state_.with([&](State& state) {
      state.suspects.erase(task);
      state.held.erase(task);
      std::vector<task::TaskHead> again;
      if (state.runs == task) {
        state.runs = {};
        for (const task::TaskKey held : std::exchange(state.held, {}))
          again.push_back(state.suspects.at(held));
      }
      is_busy_ = !state.suspects.empty();
      return again;
    });
  }

  bool has_suspects() const { return is_busy_; }
  // How many turns are quarantined. Cheap.
  std::size_t isolated() const { return isolated_; }

 private:
  struct State {
    std::unordered_map<task::TaskKey, task::TaskHead> suspects;
    std::unordered_set<task::TaskKey> held, isolated;
    task::TaskKey runs;  // the suspect that may run; 0: none
  };

  std::atomic<bool> is_busy_{false};
  std::atomic<std::size_t> isolated_{0};
  base::Guarded<State> state_;
};

}  // namespace baton::engine
