// PlanCaptions: the texts about each step in the picture of a plan, or of one run of it.
//
// Threads: immutable once made. The plan and the run must outlive it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "agents/plan/plan_picture.h"
#include "agents/plan/plan_states.h"

namespace baton::agents {

class PlanCaptions {
 public:
  // `run`: null for the plan alone.
  PlanCaptions(const Plan& plan, const PlanPictureRun* run);

  const PlanPictureRun* run() const { return run_; }
  const StepStanding& standing(const PlanStep& step) const;
  // `is_off`: the step is in a branch that was not taken.
  StepState state(const PlanStep& step, bool is_off) const;

  // A summary of the plan, or of the run's state.
  std::string summary() const;
  // The third line of a step without inner steps, below its name and its purpose: its state in the run, or
  // its rules.
  std::string third_line(const PlanStep& step, bool is_off) const;
  // "1,234 tokens", or empty if none are known.
  std::string tokens_of(const PlanStep& step) const;
  // The lines below the name of a loop or map. Their number does not depend on the step's state.
  std::vector<std::string> frame_lines(const PlanStep& step, bool is_off) const;
  std::string tooltip(const PlanStep& step) const;

 private:
  bool is_over() const { return run_ != nullptr && task::is_terminal(run_->state); }
  std::string words_of_run(const PlanStep& step, bool is_off) const;
  std::string words_of_place(const PlanStep& step, bool is_off) const;

  const Plan& plan_;
  const PlanPictureRun* const run_;
  std::map<const PlanStep*, StepStanding> standings_;
};

}  // namespace baton::agents
