#include "agents/plan/plan_failures.h"

#include <algorithm>

#include "agents/plan/plan_words.h"
#include "base/text.h"
#include "task/task.h"

namespace baton::agents {

std::string timeout_words(std::chrono::milliseconds time) {
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(time);
  const std::string text = "it took more than ";
  if (whole == time) return text + base::counted(whole.count(), "second");
  return text + std::to_string(time.count()) + " milliseconds";
}

bool is_tried_again(const PlanStep& step, const PlanFacts::Attempts& last) {
  const std::string& failure = last.end.failure;
  if (last.number > step.retry.count || failure == kBadInput ||
      failure == task::name_of(task::State::canceled))
    return false;
  return step.retry.on.empty() || std::ranges::count(step.retry.on, failure) > 0;
}

PlanEnd named_failure(const PlanStep& step, const PlanPlace& at, const PlanEnd& end) {
  const bool is_refused = end.failure == task::name_of(task::State::rejected) ||
                          end.failure == task::name_of(task::State::canceled);
  std::string text = "step " + label_of(step, at);
  if (!step.agent.empty()) text += " (agent " + step.agent + ")";
  if (step.kind == PlanStep::Kind::agent && step.agent.empty()) text += " (" + words_for(step) + ")";
  text += is_refused ? " was " + end.failure : " failed";
  // If a child gave no reason, its state's name is the text.
  if (!end.text.empty() && end.text != end.failure) text += ": " + end.text;
  return {end.failure, std::move(text)};
}

}  // namespace baton::agents
