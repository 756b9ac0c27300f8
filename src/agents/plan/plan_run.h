// PlanRun: decides the next actions of a run of a plan. After each event it walks the plan from the root
// with the known facts, and begins the steps that may begin now. Deterministic: the same facts, time and
// message give the same decisions, so a turn that is run again repeats itself.
//
// A walk is bounded: once the inputs that it has made reach the limit in PlanLimits, the other steps begin
// in the next turn, which follows at once. A walk is left in the middle when the turn is not wanted any
// more (Step::is_left).
//
// If the run ends by a failure, a cancel or its budget, its completed steps are undone, the last one
// first. Undoing has a budget of its own, as large as the run's; its time is that of the run's budget plus
// `undo_grace`. Completed steps in branches that have lost (a join needs only some branches) are undone
// while the plan continues. A compensation that has begun runs to its end, whatever becomes of the steps
// around it, unless the time for undoing is over. A step that ended in the turn in which the run ends counts
// like one that ended before: it is undone if it completed, and undoes itself if it failed.
//
// Threads: not thread-safe. Blocks on the disk where a step's input refers to earlier results.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agents/executor.h"
#include "agents/plan/plan.h"
#include "agents/plan/plan_facts.h"
#include "agents/plan/plan_values.h"

namespace baton::agents {

// Chooses an agent of this server by a skill's id and a tag; each may be empty.
using ChooseAgent =
    std::function<std::optional<std::string>(const std::string& skill, const std::string& tag)>;

// The agents that ask the questions of plans.
inline constexpr char kAskAgent[] = "~ask", kAskAuthAgent[] = "~ask-auth";

class PlanRun {
 public:
  struct World {
    base::Timestamp now{};
    PlanSources& sources;
    PlanSources::ReadChild read_child;
    ChooseAgent choose;
    const task::Budget& budget;
    task::Taken taken;      // by the task when the turn began
    bool canceled = false;  // the run is to end as soon as it is undone
    PlanLimits limits = {};
    base::Duration undo_grace = std::chrono::minutes(1);
  };

  // The actions of a turn. The records come first: they must be in the log before any child is.
  struct Step {
    std::vector<PlanRecord> records;
    std::vector<DelegateRequest> begins;
    std::vector<std::string> cancels;  // children by name
    std::optional<PlanEnd> end;        // the run is over
    std::vector<task::Part> output;    // of a run that is done, if the plan defines its output
    // For a run that is done: a sentence for each step in a lost branch that could not be undone.
    std::vector<std::string> not_undone;
    bool is_left = false;  // the turn is not wanted any more: discard this Step
    // Otherwise: how many children must stop before any step can continue (0: that depends on the time
    // alone), and the latest time of the next turn.
    int need = 0;
    std::optional<base::Timestamp> until;
  };

  PlanRun(const Plan& plan, PlanFacts& facts, World world);

  // Begins the children again that open attempts lack. Call it before `take` and `advance`, if an earlier
  // turn or attempt may have been broken off: such a child may exist without being in the log, and is found
  // only with the same input, which later results could change. If there are any, `advance` does nothing
  // else. `has_child`: the attempt has a child, or has got none for good.
  void begin_again(const std::function<bool(const std::string& call)>& has_child);
  // Records a child's result. Returns false if no attempt waits for it any more.
  bool take(const DelegateResult& result);
  Step advance();

  PlanValues& values() { return values_; }
  PlanPlace root() const { return {plan_.root.id, {}}; }

 private:
  enum class State { running, done, failed };
  // `need`: how many children must stop before a running step can continue; 0: it waits for a time only.
  struct Standing {
    State state = State::running;
    int need = 0;
    PlanEnd end = {};
  };
  struct Branches;

  Standing walk(const PlanStep& step, const PlanPlace& at);
  Standing walk_kind(const PlanStep& step, const PlanPlace& at);
  Standing walk_agent(const PlanStep& step, const PlanPlace& at);
  Standing walk_sequence(const PlanStep& step, const PlanPlace& at);
  Standing walk_branches(const PlanStep& step, const PlanPlace& at);
  Standing walk_route(const PlanStep& step, const PlanPlace& at);
  Standing walk_loop(const PlanStep& step, const PlanPlace& at);
  Standing walk_wait(const PlanStep& step, const PlanPlace& at);
  Standing join(const PlanStep& step, const PlanPlace& at, const Branches& branches);
  void lose_rest(const PlanStep& step, const PlanPlace& at, const Branches& branches, int wanted);
  Standing begin(const PlanStep& step, const PlanPlace& at, int attempt);
  base::Result<DelegateRequest> request_for(const PlanStep& step, const PlanPlace& at, int attempt);
  std::string refusal_of_begin() const;
  task::Budget budget_of_undoing(task::Taken& taken) const;
  std::optional<base::Timestamp> end_of_undoing() const;
  bool is_undoing_late() const;
  Standing undo();
  Standing undo_losers();
  bool settle_unnoticed();
  std::vector<std::string> to_undo() const;
  std::vector<std::string> undoing_themselves() const;
  bool has_failed(const PlanStep& step, const std::string& path) const;
  bool has_begun(const PlanStep& step, const PlanPlace& at) const;
  bool is_undoing_below(const std::string& around, const std::string& path) const;
  void say_not_undone(PlanEnd& end, const std::vector<std::string>& sentences) const;
  void go_forward();
  void give_up(PlanEnd end);
  bool is_left();
  bool unwinds();
  bool is_put_off();
  void record(PlanRecord record);
  void cancel_below(const std::string& path, bool spares_undoing = false);
  void wake_at(base::Timestamp time);
  static Standing failed(std::string kind, std::string text) {
    return {State::failed, 0, {std::move(kind), std::move(text)}};
  }

  const Plan& plan_;
  PlanFacts& facts_;
  const World world_;
  bool is_wanted_always_ = false;  // while children are begun again: all of them must be
  bool only_looks_ = false;  // the walk finds out what has ended, and neither begins nor cancels anything
  PlanValues values_;
  Step step_;
  std::optional<PlanEnd> refused_;  // the budget's refusal in this walk
};

}  // namespace baton::agents
