// PlanLog: folds the log of a plan's task record by record, and keeps the first thing that is wrong with it.
// Not thread-safe.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agents/plan/plan.h"
#include "agents/plan/plan_facts.h"
#include "model.h"
#include "plan_cases.h"

namespace baton::simulation {

class PlanLog {
 public:
  struct Child {
    std::string call;
    task::TaskKey task;
    bool ended = false;
    task::Subagent end;
  };

  PlanLog(const Model::Task& task, const agents::Plan& plan);

  // Empty if nothing is wrong.
  const std::string& wrong() const { return wrong_; }
  const std::map<std::string, Child>& children() const { return children_; }  // by the subagent's id
  const agents::PlanFacts& facts() const { return facts_; }
  const std::set<std::string>& taken() const { return taken_; }
  // True if the store or a full queue refused a child, or the store refused output of a child or of the plan.
  bool was_refused() const { return refused_ || unstored_; }
  bool is_unstored() const { return unstored_; }
  bool has_canceled(const std::string& call) const { return canceled_.contains(call); }
  bool is_undoing() const { return undone_from_.has_value(); }
  const Answers& answers() const { return answers_; }

  // Checks that done steps were undone, the last first, and with `whole` that all of them were.
  void check_undone(bool whole);
  // Checks that steps which lost were undone. For a completed run.
  void check_losers_undone();

 private:
  void say(const std::string& what);
  void add(const Model::Event& event);
  void add(const agents::PlanRecord& record, bool is_late);
  void begin(const agents::PlanRecord& record, const std::string& call, bool is_late);
  void note_end(const agents::PlanRecord& record);
  void check_choice(const agents::PlanRecord& record);
  bool undoes_itself(const std::string& path) const;
  std::vector<std::string> to_undo() const;
  void add(const task::Subagent& event);
  void take(const std::string& call);

  const agents::Plan& plan_;
  std::string wrong_, asker_;
  agents::PlanFacts facts_;
  std::map<std::string, Child> children_;
  std::set<std::string> begun_, ended_, canceled_, gone_, calls_, stopped_, taken_;
  std::optional<std::vector<std::string>> undone_from_;
  std::vector<std::string> undone_;
  std::optional<task::TurnNumber> canceled_in_;
  bool refused_ = false, unstored_ = false;
  Answers answers_;
};

}  // namespace baton::simulation
