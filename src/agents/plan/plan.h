// Plan: a workflow as its card describes it (member `plan` of the object `baton`; see
// agent-cards/PLANS.md). It is a tree of steps; PlanRun tracks their progress in a run.
//
// Threads: immutable once made, and shared by the runs that began with it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/document.h"
#include "json/schema.h"
#include "task/budget.h"
#include "task/json.h"

namespace baton::agents {

// A predicate on the values of a run. A leaf compares the value at `pointer`.
struct Condition {
  enum class Test { all, any, none, equals, differs, greater, less, contains, one_of, exists };
  Test test = Test::exists;
  std::string pointer;
  task::Json with;               // what the value is compared with
  std::vector<Condition> parts;  // of all, any and none
};

// When a step with several branches is done, and when it has failed. `need`: of n_of.
struct Join {
  enum class Rule { all, any, n_of, best_effort };
  Rule rule = Rule::all;
  int need = 0;
};

struct Retry {
  int count = 0;  // attempts after the first one
  std::chrono::milliseconds delay{1'000};
  double factor = 2;
  std::chrono::milliseconds delay_max{60'000};
  std::vector<std::string> on;  // kinds of failures; empty: any
};

struct PlanStep {
  enum class Kind { agent, sequence, parallel, route, loop, map, wait, ask };
  // The effect of a failure of the step. `fail` fails the step around it, `goes_on` treats the failure as
  // a normal end, and `compensate` fails the step around it after the step's own compensation has run.
  enum class OnFailure { fail, goes_on, compensate };

  Kind kind = Kind::agent;
  std::string id;                                // unique in the plan
  const PlanStep* parent = nullptr;              // null: this is the plan's root
  std::vector<std::unique_ptr<PlanStep>> steps;  // of a sequence or parallel, a route's branches, or one
  std::string agent;                             // of an agent; empty: the first with `skill` and `tag`
  std::string skill, tag;
  task::Json input;  // a template, or an object with text, data and files; absent: the caller's message
  Join join;
  int concurrency = 0;           // branches at once; 0: all
  std::vector<Condition> whens;  // a route's, for each branch; one without a condition matches always
  Condition condition;           // a loop's
  bool until = false;            // the loop ends when it holds, not when it does not
  int most = 0;                  // iterations of a loop, items of a map
  task::Json over;               // a map's items: a pointer, or a list
  task::Json time;               // a wait's: seconds, or the moment it ends as a template
  std::string question;          // of an ask: a template
  bool for_auth = false;
  Retry retry;
  std::chrono::milliseconds timeout{0};  // of each attempt; 0: none
  OnFailure on_failure = OnFailure::fail;
  std::unique_ptr<PlanStep> compensation;  // undoes the step once it is done
  // The step's replies are the plan's, word for word, if it is done: they are shown as they come.
  bool shows_replies = false;
};

struct Plan {
  PlanStep root;
  task::Json output;  // like a step's input; absent: the root's result
  const PlanStep* answers =
      nullptr;  // whose text is the text of `output`; null: no such step, or no `output`
  bool shows_results = true;
  bool undoes = false;  // a step has a compensation
  task::Budget budget;  // included in AgentSettings::budget
  std::string text;     // as read
};

// Reads the text of a plan. Adds its errors to `problems`, with pointers that begin with `place`; the plan
// can be run only if there are none.
std::shared_ptr<const Plan> read_plan(std::string_view text, const std::string& place,
                                      std::vector<json::SchemaProblem>& problems);

// Reads the plan of a run that has begun with this text; null if it cannot be read. Its pointers are not
// checked, because the checks may have become stricter since then.
std::shared_ptr<const Plan> read_begun_plan(std::string_view text);

// A card's object "budget", which the schema has checked.
task::Budget read_budget(json::Value budget);

// The agents that the plan names.
std::vector<std::string> agents_of(const Plan& plan);

// Whether `step` is `around` or a part of it.
bool stands_in(const PlanStep& step, const PlanStep& around);

// Calls `see` with `step` and with each step in it, compensations included.
template <class See>
void for_each_step(const PlanStep& step, See&& see) {
  see(step);
  for (const auto& one : step.steps) for_each_step(*one, see);
  if (step.compensation) for_each_step(*step.compensation, see);
}

// Whether `step`, or a step in it, has a compensation.
bool has_compensation(const PlanStep& step);

}  // namespace baton::agents
