#include "agents/plan/plan_captions.h"

#include <array>
#include <utility>

#include "agents/plan/plan_words.h"

namespace baton::agents {
namespace {

constexpr int kTooltipMax = 2'000;  // pixels of text, as fitted() counts them

void add_words(std::string& text, const std::string& more, std::string_view between = ", ") {
  if (more.empty()) return;
  text.append(text.empty() ? "" : between).append(more);
}

}  // namespace

PlanCaptions::PlanCaptions(const Plan& plan, const PlanPictureRun* run) : plan_(plan), run_(run) {
  if (run_ != nullptr) standings_ = standings_of(plan, run_->facts, is_over(), run_->asking);
}

const StepStanding& PlanCaptions::standing(const PlanStep& step) const {
  static const StepStanding kNone;
  const auto found = standings_.find(&step);
  return found == standings_.end() ? kNone : found->second;
}

StepState PlanCaptions::state(const PlanStep& step, bool is_off) const {
  const StepStanding& now = standing(step);
  return now.places == 0 && is_off ? StepState::skipped : now.state(is_over());
}

std::string PlanCaptions::summary() const {
  if (run_ == nullptr) return "a plan for " + counted(std::ssize(agents_of(plan_)), "agent");
  const PlanFacts& facts = run_->facts;
  std::string text(task::name_of(run_->state));
  if (facts.begun() != base::Timestamp{}) {
    const std::string taken = words_for(run_->now - facts.begun());
    text += is_over() ? " after " + taken : ", " + taken + " so far";
    add_words(text, counted(facts.children(), "child task"));
  }
  if (facts.tokens() > 0) add_words(text, counted(facts.tokens(), "token"));
  if (facts.undoing() && !is_over()) add_words(text, "completed steps are being undone");
  return text;
}

std::string PlanCaptions::third_line(const PlanStep& step, bool is_off) const {
  return run_ == nullptr ? rules_of(step) : words_of_run(step, is_off);
}

std::string PlanCaptions::words_of_run(const PlanStep& step, bool is_off) const {
  using enum StepState;
  const StepStanding& now = standing(step);
  std::string text;
  if (now.places > 1) {
    constexpr std::array<std::pair<StepState, const char*>, 6> kCounted{{{done, " done"},
                                                                         {failed, " failed"},
                                                                         {working, " working"},
                                                                         {asks, " asking"},
                                                                         {retries, " to retry"},
                                                                         {canceled, " canceled"}}};
    for (const auto& [one, words] : kCounted) {
      if (now.count(one) > 0) add_words(text, with_commas(now.count(one)) + words);
    }
  } else {
    text = words_of_place(step, is_off);
  }
  if (now.attempts > 1) add_words(text, "attempt " + std::to_string(now.attempts));
  return text;
}

std::string PlanCaptions::tokens_of(const PlanStep& step) const {
  const std::int64_t tokens = standing(step).tokens;
  return tokens > 0 ? counted(tokens, "token") : "";
}

std::string PlanCaptions::words_of_place(const PlanStep& step, bool is_off) const {
  const StepStanding& now = standing(step);
  const bool has_begun = now.begun != base::Timestamp{}, has_ended = now.ended != base::Timestamp{};
  const std::string so_far = has_begun ? " " + words_for(run_->now - now.begun) : "";
  const std::string taken = has_begun && has_ended ? " in " + words_for(now.ended - now.begun) : "";
  switch (state(step, is_off)) {
    case StepState::working:
      if (now.due) return *now.due > run_->now ? words_for(*now.due - run_->now) + " to go" : "time is up";
      return "running" + so_far;
    case StepState::asks:
      return "needs input" + so_far;
    case StepState::retries:
      return "failed, retrying";
    case StepState::done:
    case StepState::mixed:
      return "done" + taken;
    case StepState::failed:
      return "failed" + taken;
    case StepState::canceled:
      return "canceled";
    case StepState::skipped:
      return "not run";
    case StepState::idle:
      break;
  }
  return {};
}

std::vector<std::string> PlanCaptions::frame_lines(const PlanStep& step, bool is_off) const {
  std::vector<std::string> lines{words_for(step)};
  if (run_ == nullptr) {
    if (std::string rules = rules_of(step); !rules.empty()) lines.push_back(std::move(rules));
    return lines;
  }
  const StepStanding& now = standing(step);
  std::string text;
  if (now.places == now.count(StepState::idle)) {
    text = state(step, is_off) == StepState::skipped ? "not run" : "";
  } else if (step.kind == PlanStep::Kind::loop) {
    const bool goes_on = now.places == 1 && state(step, is_off) == StepState::working;
    text = goes_on ? "iteration " + with_commas(now.items) : counted(now.items, "iteration");
  } else {
    text = with_commas(now.items_done) + " of " + with_commas(now.items) + " done";
    if (now.items_failed > 0) add_words(text, with_commas(now.items_failed) + " failed");
    if (now.items_working > 0 && !is_over()) add_words(text, with_commas(now.items_working) + " running");
  }
  lines.push_back(std::move(text));
  return lines;
}

std::string PlanCaptions::tooltip(const PlanStep& step) const {
  std::string text = step.id;
  for (const std::string& more : {words_for(step), rules_of(step), standing(step).failure})
    add_words(text, more, "; ");
  return fitted(text, kTooltipMax, {});
}

}  // namespace baton::agents
