// AnswerTimes: which agents usually answer soon after their turns begin. Holding back the flush of such a
// turn's beginning saves one flush, because the answer's flush covers both.
//
// Threads: one at a time. Memory: bounded.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <unordered_map>

#include "base/threads.h"
#include "task/ids.h"

namespace baton::engine {

class AnswerTimes {
 public:
  using TimePoint = base::SteadyTime::time_point;

  // `soon`: the time within which an answer counts as soon.
  explicit AnswerTimes(std::chrono::microseconds soon) : soon_(soon) {}

  // The beginning of the task's turn was committed.
  void begun(task::TaskKey task, const task::AgentName& agent, TimePoint now) {
    if (open_.size() >= kOpenMax) open_.clear();
    open_[task] = {agent, now};
  }

  // The task has changed because of its agent or its caller.
  void answered(task::TaskKey task, TimePoint now) {
    if (open_.empty()) return;
    const auto one = open_.find(task);
    if (one == open_.end()) return;
    if (scores_.size() >= kAgentsMax) scores_.clear();
    int& score = scores_[one->second.agent];
    score = now - one->second.begun <= soon_ ? std::min(score + 1, kScoreMax) : std::max(score - 2, 0);
    open_.erase(one);
  }

  // Whether the agent's last answers mostly came soon.
  bool is_prompt(const task::AgentName& agent) const {
    const auto score = scores_.find(agent);
    return score != scores_.end() && score->second >= kPrompt;
  }

 private:
  static constexpr std::size_t kOpenMax = 4'096, kAgentsMax = 4'096;
  static constexpr int kScoreMax = 8, kPrompt = 4;
  struct Open {
    task::AgentName agent;
    TimePoint begun;
  };

  const std::chrono::microseconds soon_;
  std::unordered_map<task::TaskKey, Open> open_;
  std::unordered_map<task::AgentName, int> scores_;
};

}  // namespace baton::engine
