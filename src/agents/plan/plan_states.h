// The state of each step of a plan in a run, for display. A step within loops and maps may have several
// places; they are counted together.
//
// Pure functions.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>

#include "agents/plan/plan.h"
#include "agents/plan/plan_facts.h"

namespace baton::agents {

// idle: not begun. asks: waits for the caller. retries: waits for its next attempt. mixed: done in some of
// its places and failed in others. skipped: it will not begin any more.
enum class StepState { idle, working, asks, retries, done, mixed, failed, canceled, skipped };
// Names such as "working".
std::string_view name_of(StepState state);
// Names such as "agent", as in a card.
std::string_view name_of(PlanStep::Kind kind);

struct StepStanding {
  std::array<int, 9> counts{};  // places in each StepState; not all idle places are known
  int places = 0;
  int attempts = 0;         // the most at one place
  std::int64_t tokens = 0;  // of all places
  base::Timestamp begun{};  // the first; the epoch: never
  base::Timestamp ended{};  // the last; the epoch: never
  std::optional<base::Timestamp> due;
  std::string failure;  // the first one's text
  // For a map: its items, and how many of them are done, failed or under way. For a loop: its iterations.
  int items = 0, items_done = 0, items_failed = 0, items_working = 0;

  int count(StepState state) const { return counts.at(static_cast<std::size_t>(state)); }
  // One state for all places.
  StepState state(bool is_over) const;
};

// Steps that have not been reached have no entry. `is_over`: the run has ended, so no step is under way.
// `asking`: the path of a step whose child asks the caller; empty: none.
std::map<const PlanStep*, StepStanding> standings_of(const Plan& plan, const PlanFacts& facts, bool is_over,
                                                     const std::string& asking);

}  // namespace baton::agents
