// Budget: what a task and all tasks below it may take. The send that makes a task and its agent's card may
// each give one; of each limit the smaller holds, and a child gets what is left of its parent's.
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

// What a task and those below it have taken so far.
struct Taken {
  std::int64_t tokens = 0;
  std::int64_t children = 0;
};

// An absent limit does not bound.
struct Budget {
  // A task keeps these two as its own counts may become (TaskHead::tokens and children).
  std::optional<std::int64_t> tokens;
  std::optional<std::int64_t> children;  // tasks below it
  std::optional<std::int64_t> depth;     // levels of tasks below it
  std::optional<std::int64_t> rounds;    // of a model's tool calls, in each turn
  std::optional<base::Duration> wall;    // from the task's beginning on
  std::optional<base::Timestamp> until;  // the same as a time; a task keeps this one
  // The agents to which work below the task may be given, because the caller's token is for these only. No
  // caller or card names them, and no other server is told.
  std::optional<std::vector<std::string>> agents;

  bool empty() const { return *this == Budget(); }
  friend bool operator==(const Budget&, const Budget&) = default;
};

// Limits that callers and cards name are whole numbers up to these.
inline constexpr std::int64_t kBudgetMax = (std::int64_t{1} << 53) - 1;
inline constexpr std::int64_t kBudgetSecondsMax = 1'000'000'000;
// What one report may add to a task's counts: their sum does not overflow.
inline constexpr std::int64_t kReportMax = std::int64_t{1} << 40;

// Of each limit the smaller one, and the agents that are in both lists.
Budget smaller(const Budget& one, const Budget& other);

// The limits as a task keeps them that begins at this time, with what it has taken before that.
Budget begun(Budget limits, base::Timestamp at, const Taken& before = {});

// What is left of a task's budget, as another server is told it; never negative.
Budget left_of(const Budget& budget, const Taken& taken);
// The same for a child, which is in `taken` already.
Budget left_for_child(const Budget& budget, const Taken& taken);

// Why a task may go on no more, for its caller, with the limit's name; empty: it may.
std::string excess(const Budget& budget, const Taken& taken, base::Timestamp now);
// Why a task may have no further child; empty: it may.
std::string refusal_of_child(const Budget& budget, const Taken& taken);
// Why the task may not give work to this agent; empty: it may. Names with "~" are a plan's own questions.
std::string refusal_of_agent(const Budget& budget, std::string_view agent);
// Why no model may be asked any more; empty: it may.
std::string refusal_of_tokens(const Budget& budget, const Taken& taken);

}  // namespace baton::task
