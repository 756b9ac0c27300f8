// SubjectTokens: the access tokens that the callers of tasks came with, for agents that exchange them. In
// memory only: after a restart, on another node and past the bound a task has none, and such an agent asks
// its caller. A child gets the token of its parent with each message from it.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <utility>

#include "base/guarded.h"
#include "base/lru.h"
#include "task/ids.h"
#include "task/task.h"

namespace baton::engine {

class SubjectTokens {
 public:
  static constexpr std::size_t kTokensMax = 10'000;

  // Replaces the task's token; null removes it: what a caller sends without its token does not profit from an
  // earlier one.
  void put(task::TaskKey task, task::SubjectTokenPtr token) {
    if (!token) return erase(task);
    state_.with([&](State& state) {
      if (auto* const known = state.tokens.find(task)) {
        *known = std::move(token);
      } else {
        state.tokens.put(task, std::move(token));
      }
    });
  }
  // Null if there is none.
  task::SubjectTokenPtr find(task::TaskKey task) {
    return state_.with([&](State& state) {
      const auto* const known = state.tokens.find(task);
      return known == nullptr ? nullptr : *known;
    });
  }
  void erase(task::TaskKey task) {
    state_.with([&](State& state) { state.tokens.erase(task); });
  }

 private:
  struct State {
    base::Lru<task::TaskKey, task::SubjectTokenPtr> tokens{kTokensMax};
  };
  base::Guarded<State> state_;
};

}  // namespace baton::engine
