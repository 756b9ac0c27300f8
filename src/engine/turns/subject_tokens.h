// SubjectTokens: the access tokens that the callers of tasks came with, for agents that exchange them. In
// memory only: after a restart and on another node a task has none, and such an agent asks its caller. The
// same holds past the bound: the caller with the most tokens loses the one that was used the longest ago. A
// child gets the token of its parent with each message from it.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
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
      const auto to = state.callers.try_emplace(account, tokens_max_).first;
      if (to->second.size() == 0) state.by_count.emplace(0, to->first);
      to->second.put(task.key, std::move(token));
      recount(state, to, 1);
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
      recount(state, own, -1);
    });
  }

 private:
  using Tokens = base::Lru<task::TaskKey, task::SubjectTokenPtr>;
  using Callers = std::map<std::string, Tokens>;
  struct State {
    Callers callers;  // by account
    // The same accounts by the number of their tokens, so that the one with the most is found at once.
    std::set<std::pair<std::size_t, std::string_view>> by_count;
    std::size_t count = 0;  // of all their tokens
  };

  static void drop_one(State& state) {
    const auto fullest = state.callers.find(std::string(std::prev(state.by_count.end())->second));
    fullest->second.drop_oldest();
    recount(state, fullest, -1);
  }
  // Counts a token that was added to (1) or removed from (-1) the caller's.
  static void recount(State& state, Callers::iterator of, int change) {
    const std::size_t now = of->second.size();
    const std::size_t before = change > 0 ? now - 1 : now + 1;
    auto place = state.by_count.extract({before, of->first});
    change > 0 ? ++state.count : --state.count;
    if (now == 0) {
      state.callers.erase(of);
      return;
    }
    place.value().first = now;
    state.by_count.insert(std::move(place));
  }

  static std::string account_of(const task::TaskHead& task) {
    return std::string(task::account_of(task.caller));
  }

  const std::size_t tokens_max_;
  base::Guarded<State> state_;
};

}  // namespace baton::engine
