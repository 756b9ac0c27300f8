// PlanValues: what the texts, lists and conditions of a plan refer to. `/message` is the caller's message,
// `/item` and `/index` are those of the map around a step, `/iteration` is that of the loop, `/steps/<id>` is
// what a step has come to. Nothing is copied into the plan's log: a step's result is read from its child.
//
// Threads: not thread-safe; blocks on the disk where it reads a child.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agents/plan.h"
#include "agents/workflow/child_results.h"
#include "agents/workflow/plan_facts.h"
#include "agents/workflow/plan_place.h"
#include "base/error.h"
#include "json/document.h"
#include "task/task.h"

namespace baton::agents {

class PlanValues {
 public:
  // Reads the child that was delegated to under this name.
  using ReadChild = std::function<base::Result<task::Task>(const std::string& call)>;

  PlanValues(const Plan& plan, const PlanFacts& facts, const task::Message& message, ReadChild read_child)
      : plan_(plan), facts_(facts), message_(message), read_child_(std::move(read_child)) {}

  // The JSON text of what a pointer refers to; absent: there is nothing.
  task::Json value(const std::string& pointer, const PlanPlace& from);
  // With each {{pointer}} replaced: a string by its text, anything else by its JSON.
  std::string fill(const std::string& text, const PlanPlace& from);
  bool holds(const Condition& condition, const PlanPlace& from);

  // A step's input as the parts of a message.
  std::vector<task::Part> parts_of(const task::Json& input, const PlanPlace& from);
  std::vector<task::Part> files(const std::string& pointer, const PlanPlace& from);

  int count_items(const PlanStep& map, const PlanPlace& at);

  // The names of the children whose results make up what the step has come to, in order.
  std::vector<std::string> results_of(const PlanStep& step, const PlanPlace& at);
  // Null: it cannot be read.
  const task::Task* child(const std::string& call);

 private:
  using Iterations = decltype(PlanPlace::iterations);
  struct Items {
    std::vector<task::Json> values;
    std::vector<task::Part> parts;  // of a list of files: one for each value
  };
  const Items& items_of(const PlanStep& map, const PlanPlace& at);
  task::Json step_value(const std::string& rest, const PlanPlace& from);
  task::Json results(const PlanStep& step, const PlanPlace& at);
  std::optional<std::pair<const PlanStep*, int>> innermost(PlanStep::Kind kind, const PlanPlace& from) const;
  PlanPlace place_of(const PlanStep& step, const PlanPlace& from) const;
  PlanPlace place_among(const PlanStep& step, const Iterations& iterations) const;
  std::string state_of(const PlanStep& step, const PlanPlace& at) const;
  std::string error_of(const PlanStep& step, const PlanPlace& at) const;
  std::string filled(json::Value value, const PlanPlace& from);

  const Plan& plan_;
  const PlanFacts& facts_;
  const task::Message& message_;
  const ReadChild read_child_;
  std::map<std::string, std::optional<task::Task>> children_;
  std::map<std::string, Items> items_;  // by the map's path
};

}  // namespace baton::agents
