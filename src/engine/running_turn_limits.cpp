// RunningTurn: its time, and the budget of its task: what is counted before it is stored, and what ends the
// turn.
#include <algorithm>
#include <limits>

#include "engine/running_turn.h"

namespace baton::engine {

void RunningTurn::arm_deadline(std::chrono::milliseconds time) {
  const auto deadline = services_.background.timers().after(time, [self = shared_from_this()] {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(self->time_max_).count();
    self->force(
        self->failure_of_engine("the agent did not finish within " + std::to_string(seconds) + " seconds"));
  });
  const bool is_over = state_.with([&](State& state) {
    state.deadline = deadline;
    state.ends_at = base::SteadyTime::now() + time;
    return state.phase == Phase::over;
  });
  if (is_over) services_.background.timers().cancel(deadline);
}

// The time for which the task waits for its caller is not the agent's.
void RunningTurn::heed_deadline() {
  struct Next {
    base::EventLoop::TimerId stops = 0;
    std::optional<std::chrono::milliseconds> goes_on;
  };
  const Next next = state_.with([](State& state) {
    if (state.phase != Phase::running) return Next{};
    const bool asks = task::is_waiting(state.head.state);
    if (asks && !state.left) {
      const auto left = state.ends_at - base::SteadyTime::now();
      state.left = std::max(std::chrono::ceil<std::chrono::milliseconds>(left), std::chrono::milliseconds(0));
      return Next{std::exchange(state.deadline, 0), {}};
    }
    return asks ? Next{} : Next{0, std::exchange(state.left, std::nullopt)};
  });
  if (next.stops != 0) services_.background.timers().cancel(next.stops);
  if (next.goes_on) arm_deadline(*next.goes_on);
}

// The time runs also while the task waits for its caller. A plan's turn is over in a moment.
void RunningTurn::arm_budget_end() {
  if (!budget_->until || is_short_) return;
  const auto left = std::max(*budget_->until - services_.clock.now(), base::Duration(0));
  const auto timer = services_.background.timers().after(left, [self = shared_from_this()] {
    self->force(agents::Failed{task::excess(*self->budget_, {}, *self->budget_->until)});
  });
  const bool is_over = state_.with([&](State& state) {
    state.budget_end = timer;
    return state.phase == Phase::over;
  });
  if (is_over) services_.background.timers().cancel(timer);
}

bool RunningTurn::asks_anew(const State& state, const agents::DelegateRequest& request, int nth) {
  if (!request.task.empty()) return false;
  const auto known = state.known_calls.find(request.id);
  return known == state.known_calls.end() || nth > known->second;
}

bool RunningTurn::asks_anew(const agents::DelegateRequest& request, int nth) const {
  return state_.with([&](const State& state) { return asks_anew(state, request, nth); });
}

// Why the turn may not have this child; else counts it, unless it is there already.
std::string RunningTurn::admit(State& state, const agents::DelegateRequest& request, int nth) const {
  if (!asks_anew(state, request, nth)) return {};
  if (request.budget) {
    ++state.taken.children;
    return {};
  }
  task::Budget budget = budget_ ? *budget_ : task::Budget();
  if (!budget.children) budget.children = services_.options.delegation_children_max;
  std::string refusal = task::refusal_of_child(budget, state.taken);
  if (!refusal.empty()) return refusal;
  ++state.taken.children;
  return {};
}

std::shared_ptr<const task::Budget> RunningTurn::budget_of(const agents::DelegateRequest& request) const {
  if (request.budget) return std::make_shared<const task::Budget>(*request.budget);
  if (!budget_) return nullptr;
  const task::Taken taken = state_.with([](const State& state) { return state.taken; });
  return std::make_shared<const task::Budget>(task::left_for_child(*budget_, taken));
}

// What comes from elsewhere is known only once it is there: then the agent may still end well with it.
void RunningTurn::count(State& state, const task::EventBody& body) const {
  if (const auto* usage = std::get_if<task::Usage>(&body)) state.taken.tokens += usage->tokens;
  if (const auto* kept = std::get_if<task::ExecutorState>(&body)) {
    state.taken.tokens += kept->used.tokens;
    state.taken.children += kept->used.children;
  }
  const bool is_over = budget_->tokens && state.taken.tokens > *budget_->tokens;
  if (!is_over || answers_whole_ || is_short_ || state.outcome) return;
  if (std::holds_alternative<task::Usage>(body)) state.outcome = agents::Failed{excess_of(state)};
}

// A child that has used too much ends the turn, but for a plan's, whose next turn sees to it.
void RunningTurn::count_end(State& state, const task::Subagent& child) const {
  state.taken.tokens += child.tokens;
  state.taken.children += child.children;
  const bool is_over = budget_->tokens && child.tokens > 0 && state.taken.tokens > *budget_->tokens;
  if (is_over && !is_short_ && !state.outcome) state.outcome = agents::Failed{excess_of(state)};
}

std::string RunningTurn::excess_of(const State& state) const {
  return task::excess(*budget_, state.taken, services_.clock.now());
}

// A turn in which the tokens were used up waits for nothing: the next one ends the task.
void RunningTurn::heed_excess(const State& state, agents::Waits& waits) const {
  if (!budget_->tokens || tokens_before_ > *budget_->tokens) return;
  if (state.taken.tokens > *budget_->tokens) waits.open_max = std::numeric_limits<int>::max();
}

// The executor is not asked, so a plan undoes nothing.
agents::Outcome RunningTurn::failure_of_engine(std::string error) const {
  if (undoes_) error += "; what the plan has done is not undone";
  return agents::Failed{std::move(error)};
}

// The agent is told first: its next attempt may begin once the end of this one is stored.
void RunningTurn::force(agents::Outcome outcome) {
  auto running = state_.with([&](State& state) {
    if (state.phase == Phase::over) return std::shared_ptr<agents::Execution>();
    if (!state.outcome) {
      state.is_stopping = state.running != nullptr || state.is_starting;
      state.outcome = std::move(outcome);
    }
    return std::exchange(state.running, nullptr);
  });
  if (running) {
    running.reset();
    state_.with([](State& state) { state.is_stopping = false; });
  }
  flush();
}

}  // namespace baton::engine
