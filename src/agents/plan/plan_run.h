// PlanRun: decides what a run of a plan does next. Each time something has happened it walks the plan from
// the root with the facts there are, and begins what may begin now. Deterministic: the same facts, time and
// message give the same decisions, so a turn that is run again repeats itself.
//
// A walk is bounded: once the inputs that it has made are as large as PlanLimits says, the rest begins in the
// next turn, at once. And it is left in the middle when the turn is not wanted any more (Step::is_left).
//
// What is done is undone, the last first, whatever ends the run but its success: a failure, a cancel, or its
// budget. Undoing has a budget of its own, as large as the run's; the time for it is that of the run's budget
// and `undo_grace` more. What was done in branches that have lost (a join of some) is undone while the plan
// goes on.
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

// Chooses an agent of this server by a skill's id and a tag, each of which may be empty.
using ChooseAgent =
    std::function<std::optional<std::string>(const std::string& skill, const std::string& tag)>;

// The agents to which questions are delegated.
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
    bool canceled = false;  // the run is to end as soon as it has undone what it did
    PlanLimits limits = {};
    base::Duration undo_grace = std::chrono::minutes(1);
  };

  // What a turn does. Records first: they are in the log before any child is.
  struct Step {
    std::vector<PlanRecord> records;
    std::vector<DelegateRequest> begins;
    std::vector<std::string> cancels;  // children by name
    std::optional<PlanEnd> end;        // the run is over
    std::vector<task::Part> output;    // of a run that is done and whose plan says what its output is
    // Of a run that is done: what could not be undone of the branches that have lost, a sentence each.
    std::vector<std::string> not_undone;
    bool is_left = false;  // the turn is not wanted any more: nothing of this counts
    // Else: how many children must stop before anything can go on (0: that depends on the time alone), and
    // when to look again at the latest.
    int need = 0;
    std::optional<base::Timestamp> until;
  };

  PlanRun(const Plan& plan, PlanFacts& facts, World world);

  // Takes in what a child has come to; false: nobody asks for it any more.
  bool take(const DelegateResult& result);
  // Asks again for the children that open attempts lack. Call it before `advance`, if the last turn was
  // broken off. If there are any, `advance` does nothing else.
  void begin_again(const std::function<bool(const std::string& call)>& has_child);
  Step advance();

  PlanValues& values() { return values_; }
  PlanPlace root() const { return {plan_.root.id, {}}; }

 private:
  enum class State { running, done, failed };
  // `need`: how many children must stop before the step can go on, if it runs; 0: it waits for a time only.
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
  Standing undo();
  Standing undo_losers();
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
  bool is_wanted_always_ = false;  // whatever is begun again must be whole
  PlanValues values_;
  Step step_;
  std::optional<PlanEnd> refused_;  // by the budget, in this walk
};

}  // namespace baton::agents
