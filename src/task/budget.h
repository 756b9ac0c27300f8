// Budget: limits on the resources that a task and all tasks below it may use. The send that creates a task
// and its agent's card may each set a budget. The smaller value of each limit applies, and a child gets the
// rest of its parent's budget.
//
// Threads: any; pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace baton::task {

// The usage of a task and the tasks below it until now.
struct Taken {
  std::int64_t tokens = 0;
  std::int64_t children = 0;
};

// An absent limit means unlimited.
struct Budget {
  // A stored task keeps these two as upper bounds for its own counts (TaskHead::tokens and children).
  std::optional<std::int64_t> tokens;
  std::optional<std::int64_t> children;  // tasks below it
  std::optional<std::int64_t> depth;     // levels of tasks below it
  std::optional<std::int64_t> rounds;    // rounds of a model's tool calls, in each turn
  std::optional<base::Duration> wall;    // wall-clock time since the task's beginning
  std::optional<base::Timestamp> until;  // `wall` as a point in time; a stored task keeps this one
  // The only agents that may get work below the task, because the caller's token is restricted to them.
  // Callers and cards cannot set this list, and it is not sent to other servers.
  std::optional<std::vector<std::string>> agents;

  bool empty() const { return *this == Budget(); }
  friend bool operator==(const Budget&, const Budget&) = default;
};

// Callers and cards give limits as whole numbers up to these.
inline constexpr std::int64_t kBudgetMax = (std::int64_t{1} << 53) - 1;
inline constexpr std::int64_t kBudgetSecondsMax = 1'000'000'000;
// The most that one report may add to a task's counts, so that their sum does not overflow.
inline constexpr std::int64_t kReportMax = std::int64_t{1} << 40;

// Returns the smaller value of each limit, and the agents that are in both lists.
Budget smaller(const Budget& one, const Budget& other);

// Converts limits to the form that a stored task keeps. The task begins at `at` and has already used
// `before`.
Budget begun(Budget limits, base::Timestamp at, const Taken& before = {});

// Returns the rest of a task's budget, as sent to other servers; never negative.
Budget left_of(const Budget& budget, const Taken& taken);
// Returns the rest of the budget for a child that `taken` already counts.
Budget left_for_child(const Budget& budget, const Taken& taken);

// The following functions return the reason for a refusal, in words for the caller, or an empty string.
// `excess`: the task is over a limit, which the text names, and must not continue.
std::string excess(const Budget& budget, const Taken& taken, base::Timestamp now);
// The task must not have another child.
std::string refusal_of_child(const Budget& budget, const Taken& taken);
// The task must not give work to this agent. Names with "~" are a plan's own questions and always allowed.
std::string refusal_of_agent(const Budget& budget, std::string_view agent);
// The task must not call a model again.
std::string refusal_of_tokens(const Budget& budget, const Taken& taken);

}  // namespace baton::task
