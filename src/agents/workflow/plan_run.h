// PlanRun: decides what a run of a plan does next. Each time something has happened it walks the plan from
// the root with the facts there are, and begins what may begin now. Deterministic: the same facts, time and
// message give the same decisions, so a turn that is run again repeats itself.
//
// Threads: not thread-safe. Blocks on the disk where a step's input refers to earlier results.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agents/executor.h"
#include "agents/plan.h"
#include "agents/workflow/plan_facts.h"
#include "agents/workflow/plan_values.h"

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
    const task::Message& message;  // of the caller
    PlanValues::ReadChild read_child;
    ChooseAgent choose;
    const task::Budget& budget;
    task::Taken taken;      // by the task when the turn began
    bool canceled = false;  // the run is to end as soon as it has undone what it did
  };

  // What a turn does. Records first: they are in the log before any child is.
  struct Step {
    std::vector<PlanRecord> records;
    std::vector<DelegateRequest> begins;
    std::vector<std::string> cancels;  // children by name
    std::optional<PlanEnd> end;        // the run is over
    // Else: how many children must stop before anything can go on (0: that depends on the time alone), and
    // when to look again at the latest.
    int need = 0;
    std::optional<base::Timestamp> until;
  };

  PlanRun(const Plan& plan, PlanFacts& facts, World world)
      : plan_(plan),
        facts_(facts),
        world_(std::move(world)),
        values_(plan, facts, world_.message, world_.read_child) {}

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
  Standing begin(const PlanStep& step, const PlanPlace& at, int attempt);
  base::Result<DelegateRequest> request_for(const PlanStep& step, const PlanPlace& at, int attempt);
  Standing undo();
  void give_up(PlanEnd end);
  void stop(PlanEnd end);
  void record(PlanRecord record);
  void cancel(const std::string& call);
  void cancel_below(const std::string& path);
  void wake_at(base::Timestamp time);
  static Standing failed(std::string kind, std::string text) {
    return {State::failed, 0, {std::move(kind), std::move(text)}};
  }

  const Plan& plan_;
  PlanFacts& facts_;
  const World world_;
  PlanValues values_;
  Step step_;
};

}  // namespace baton::agents
