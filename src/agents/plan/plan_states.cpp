#include "agents/plan/plan_states.h"

#include <algorithm>

#include "agents/plan/plan_failures.h"
#include "agents/plan/plan_values.h"

namespace baton::agents {
namespace {

using StepKind = PlanStep::Kind;

constexpr std::array<std::string_view, 9> kStateNames{"idle",  "working", "asks",     "retries", "done",
                                                      "mixed", "failed",  "canceled", "skipped"};

StepState state_after(const PlanEnd& end) {
  if (end.failure.empty()) return StepState::done;
  return end.failure == "canceled" ? StepState::canceled : StepState::failed;
}

class PlanWalk {
 public:
  PlanWalk(const PlanFacts& facts, bool is_over, const std::string& asking)
      : facts_(facts), is_over_(is_over), asking_(asking) {}

  // The state of the step at a place, for the step around it. `frozen`: nothing begins there any more.
  StepState visit(const PlanStep& step, const PlanPlace& at, bool frozen) {
    const PlanEnd* settled = facts_.settled(at.path);
    StepState state = visit_kind(step, at, frozen || settled != nullptr);
    if (settled != nullptr) state = state_after(*settled);
    if (state == StepState::working && is_over_) state = StepState::canceled;
    StepStanding& standing = standings[&step];
    ++standing.places;
    ++standing.counts.at(static_cast<std::size_t>(state));
    if (settled != nullptr && standing.failure.empty()) standing.failure = settled->text;
    if (step.compensation) visit(*step.compensation, place_in(at, *step.compensation), is_over_);
    const bool is_ignored = state == StepState::failed && step.on_failure == PlanStep::OnFailure::goes_on;
    return is_ignored ? StepState::done : state;
  }

  std::map<const PlanStep*, StepStanding> standings;

 private:
  StepState visit_kind(const PlanStep& step, const PlanPlace& at, bool frozen) {
    switch (step.kind) {
      case StepKind::agent:
      case StepKind::ask:
      case StepKind::wait:
        return visit_leaf(step, at, frozen);
      case StepKind::sequence:
        return visit_sequence(step, at, frozen);
      case StepKind::parallel:
        return visit_parallel(step, at, frozen);
      case StepKind::route:
        return visit_route(step, at, frozen);
      case StepKind::loop:
        return visit_loop(step, at, frozen);
      case StepKind::map:
        return visit_map(step, at, frozen);
    }
    return StepState::idle;
  }

  StepState visit_leaf(const PlanStep& step, const PlanPlace& at, bool frozen) {
    const auto due = facts_.due(at.path);
    const auto* last = facts_.attempts(at.path);
    StepStanding& standing = standings[&step];
    if (due) standing.due = due;
    if (last == nullptr) return due ? StepState::working : StepState::idle;
    const bool has_begun = last->first != base::Timestamp{};
    if (has_begun && (standing.begun == base::Timestamp{} || last->first < standing.begun))
      standing.begun = last->first;
    standing.ended = std::max(standing.ended, last->ended);
    standing.attempts = std::max(standing.attempts, last->number);
    standing.tokens += last->tokens;
    const bool asks = !is_over_ && (step.kind == StepKind::ask || at.path == asking_);
    if (last->open) return asks ? StepState::asks : StepState::working;
    const StepState state = state_after(last->end);
    if (state == StepState::done) return state;
    if (standing.failure.empty()) standing.failure = last->end.text;
    return !frozen && is_tried_again(step, *last) ? StepState::retries : state;
  }

  StepState visit_sequence(const PlanStep& step, const PlanPlace& at, bool frozen) {
    for (const auto& one : step.steps) {
      const StepState state = visit(*one, place_in(at, *one), frozen);
      if (state == StepState::idle && one != step.steps.front()) return StepState::working;
      if (state != StepState::done) return state;
    }
    return StepState::done;
  }

  StepState visit_parallel(const PlanStep& step, const PlanPlace& at, bool frozen) {
    bool has_begun = false;
    for (const auto& one : step.steps)
      has_begun |= visit(*one, place_in(at, *one), frozen) != StepState::idle;
    return has_begun ? StepState::working : StepState::idle;
  }

  StepState visit_route(const PlanStep& step, const PlanPlace& at, bool frozen) {
    const auto chosen = facts_.chosen(at.path);
    if (!chosen) return StepState::idle;
    if (*chosen < 0 || *chosen >= std::ssize(step.steps)) return StepState::done;
    const PlanStep& one = *step.steps[static_cast<std::size_t>(*chosen)];
    const StepState state = visit(one, place_in(at, one), frozen);
    return state == StepState::idle ? StepState::working : state;
  }

  StepState visit_loop(const PlanStep& step, const PlanPlace& at, bool frozen) {
    const auto chosen = facts_.chosen(at.path);
    if (!chosen) return StepState::idle;
    for (int index = 0; index <= std::min(*chosen, step.most); ++index)
      visit(*step.steps.front(), place_of_iteration(at, step, index), frozen);
    standings[&step].items += *chosen + 1;
    return StepState::working;
  }

  StepState visit_map(const PlanStep& step, const PlanPlace& at, bool frozen) {
    const auto chosen = facts_.chosen(at.path);
    if (!chosen) return StepState::idle;
    int done = 0, failed = 0, working = 0;
    for (int index = 0; index < std::min(*chosen, step.most); ++index) {
      const StepState state = visit(*step.steps.front(), place_of_iteration(at, step, index), frozen);
      // Items begin in their order.
      if (state == StepState::idle) break;
      done += state == StepState::done ? 1 : 0;
      failed += state == StepState::failed ? 1 : 0;
      working +=
          state == StepState::done || state == StepState::failed || state == StepState::canceled ? 0 : 1;
    }
    StepStanding& standing = standings[&step];
    standing.items += *chosen;
    standing.items_done += done;
    standing.items_failed += failed;
    standing.items_working += working;
    return StepState::working;
  }

  const PlanFacts& facts_;
  const bool is_over_;
  const std::string& asking_;
};

}  // namespace

std::string_view name_of(StepKind kind) {
  constexpr std::array<std::string_view, 8> kKindNames{"agent", "sequence", "parallel", "route",
                                                       "loop",  "map",      "wait",     "ask"};
  return kKindNames.at(static_cast<std::size_t>(kind));
}

std::string_view name_of(StepState state) {
  return kStateNames.at(static_cast<std::size_t>(state));
}

StepState StepStanding::state(bool is_over) const {
  using enum StepState;
  for (const StepState active : {working, asks, retries}) {
    if (count(active) > 0) return active;
  }
  const StepState unreached = is_over ? skipped : idle;
  if (count(failed) > 0) return count(done) > 0 ? mixed : failed;
  if (count(done) > 0) return count(idle) > 0 && !is_over ? working : done;
  return count(canceled) > 0 ? canceled : unreached;
}

std::map<const PlanStep*, StepStanding> standings_of(const Plan& plan, const PlanFacts& facts, bool is_over,
                                                     const std::string& asking) {
  PlanWalk walk(facts, is_over, asking);
  walk.visit(plan.root, {plan.root.id, {}}, is_over || facts.undoing().has_value());
  return std::move(walk.standings);
}

}  // namespace baton::agents
