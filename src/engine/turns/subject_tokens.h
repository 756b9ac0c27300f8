// SubjectTokens: the access tokens that the callers of tasks came with, for agents that exchange them. In
// memory only: after a restart and on another node a task has none, and such an agent asks its caller. The
// same holds past the bound: the caller with the most tokens loses the one that was used the longest ago. A
// child gets the token of its parent with each message from it.
//
// Threads: any.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "base/guarded.h"
#include "base/lru.h"
#include "task/head.h"
#include "task/task.h"

namespace baton::engine {

class SubjectTokens {
 public:
  static constexpr std::size_t kTokensMax = 10'000;

  explicit SubjectTokens(std::size_t tokens_max = kTokensMax) : tokens_max_(tokens_max) {}

  // Replaces the task's token; null removes it: what a caller sends without its token does not profit from an
  // earlier one.
  void put(const task::TaskHead& task, task::SubjectTokenPtr token) {
    if (!token) return erase(task);
    state_.with([&](State& state) {
      const std::string account = account_of(task);
      const auto own = state.callers.find(account);
      auto* const known = own == state.callers.end() ? nullptr : own->second.find(task.key);
      if (known != nullptr) {
        *known = std::move(token);
        return;
      }
      if (state.count == tokens_max_) drop_one(state);
      state.callers.try_emplace(account, tokens_max_).first->second.put(task.key, std::move(token));
      ++state.count;
    });
  }
  // Null if there is none.
  task::SubjectTokenPtr find(const task::TaskHead& task) {
    return state_.with([&](State& state) -> task::SubjectTokenPtr {
      const auto own = state.callers.find(account_of(task));
      if (own == state.callers.end()) return nullptr;
      const auto* const known = own->second.find(task.key);
      return known == nullptr ? nullptr : *known;
    });
  }
  void erase(const task::TaskHead& task) {
    state_.with([&](State& state) {
      const auto own = state.callers.find(account_of(task));
      if (own == state.callers.end() || own->second.find(task.key) == nullptr) return;
      own->second.erase(task.key);
      took_one(state, own);
    });
  }

 private:
  using Tokens = base::Lru<task::TaskKey, task::SubjectTokenPtr>;
  struct State {
    std::map<std::string, Tokens> callers;  // by account; none is empty
    std::size_t count = 0;                  // of all their tokens
  };

  static void drop_one(State& state) {
    const auto fullest =
        std::ranges::max_element(state.callers, {}, [](const auto& one) { return one.second.size(); });
    fullest->second.drop_oldest();
    took_one(state, fullest);
  }
  static void took_one(State& state, std::map<std::string, Tokens>::iterator of) {
    --state.count;
    if (of->second.size() == 0) state.callers.erase(of);
  }

  static std::string account_of(const task::TaskHead& task) {
    return std::string(task::account_of(task.caller));
  }

  const std::size_t tokens_max_;
  base::Guarded<State> state_;
};

}  // namespace baton::engine
