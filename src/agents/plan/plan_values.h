// PlanValues: the values that the texts, lists and conditions of a plan refer to. `/message` is the
// caller's message, `/item` and `/index` are those of the map around a step, `/iteration` is that of the
// loop, `/steps/<id>` is the result of a step. Nothing is copied into the plan's log: a step's result is
// read from its child.
//
// One object serves one turn. Values may be large, so each call that fills in values is bounded
// (`PlanLimits::fill_max`) and fails with too_large beyond that; `filled` returns the total of all calls.
// A value of the wrong type fails with invalid_argument; it is never treated as an empty one, and neither is
// the result of a child that is there but cannot be read. The error's text is for the plan's caller.
//
// Threads: not thread-safe; blocks on the disk where it reads a child. Once the turn is not wanted any more,
// calls return early with whatever they have, and `stopped` is true.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agents/plan/child_results.h"
#include "agents/plan/plan.h"
#include "agents/plan/plan_facts.h"
#include "agents/plan/plan_place.h"
#include "agents/plan/plan_sources.h"
#include "base/error.h"
#include "json/document.h"
#include "json/writer.h"
#include "task/task.h"

namespace baton::agents {

struct PlanLimits {
  // The most bytes that one step may be given, or compare. A turn that has filled in as many continues in
  // another turn.
  std::size_t fill_max = 16 << 20;
  // Whether the turn is still wanted; called within every loop over received data. Empty: always.
  std::function<bool()> is_wanted = {};
};

class PlanValues {
 public:
  // The first three must outlive this. `read_child`: see PlanSources.
  PlanValues(const Plan& plan, const PlanFacts& facts, PlanSources& sources,
             PlanSources::ReadChild read_child, PlanLimits limits);

  // The value of a pointer; missing if there is none.
  PlanValue value(const std::string& pointer, const PlanPlace& from);
  // With each {{pointer}} replaced: a string by its text, anything else by its JSON.
  base::Result<std::string> fill(const std::string& text, const PlanPlace& from);
  base::Result<bool> holds(const Condition& condition, const PlanPlace& from);

  // A step's input as the parts of a message.
  base::Result<std::vector<task::Part>> parts_of(const task::Json& input, const PlanPlace& from);

  // How many items the map has. Fails if there is no list.
  base::Result<int> count_items(const PlanStep& map, const PlanPlace& at);

  // The names of the children whose results make up the step's result, in order. Those of branches that
  // have lost (PlanFacts) are left out, unless `step` is within one.
  std::vector<std::string> results_of(const PlanStep& step, const PlanPlace& at) const;
  // Fails if a child is there whose result is a part of the step's and cannot be read.
  base::Result<void> check_results(const PlanStep& step, const PlanPlace& at);
  // Null if it cannot be read.
  std::shared_ptr<PlanSources::Child> child(const std::string& call);

  // The bytes that all calls have filled in.
  std::size_t filled() const { return filled_; }
  bool stopped() const { return stopped_; }

 private:
  using Iterations = decltype(PlanPlace::iterations);
  const PlanSources::Items& items_of(const PlanStep& map, const PlanPlace& at);
  PlanSources::Items read_items(const PlanStep& map, const PlanPlace& at);
  PlanValue step_value(std::string_view rest, const PlanPlace& from);
  PlanValue text_value(const PlanStep& step, const PlanPlace& at);
  PlanValue files_value(const std::string& list, const std::string& name, bool is_final,
                        const PlanPlace& from);
  PlanValue results(const PlanStep& step, const PlanPlace& at);
  template <class Make>
  PlanValue kept(const std::string& name, bool is_final, Make&& make);
  void add_results(const PlanStep& step, const PlanPlace& at, std::size_t most,
                   std::vector<std::string>& calls) const;
  std::shared_ptr<PlanSources::Child> first_child(const PlanStep& step, const PlanPlace& at);
  bool is_final(const PlanStep& step, const PlanPlace& at) const;
  const PlanStep* find(std::string_view id);
  std::optional<std::pair<const PlanStep*, int>> innermost(PlanStep::Kind kind, const PlanPlace& from) const;
  PlanPlace place_of(const PlanStep& step, const PlanPlace& from) const;
  PlanPlace place_among(const PlanStep& step, const Iterations& iterations) const;
  std::string state_of(const PlanStep& step, const PlanPlace& at) const;
  std::string error_of(const PlanStep& step, const PlanPlace& at) const;
  std::vector<task::Part> files(const std::string& pointer, const PlanPlace& from);
  std::vector<task::Part> all_files(const std::string& pointer, const PlanPlace& from);
  void fill_text(std::string& filled, std::string_view text, const PlanPlace& from);
  void fill_value(json::Writer& out, json::Value from, const PlanPlace& place);
  bool is_true(const Condition& condition, const PlanPlace& from);
  bool compare(const Condition& condition, const PlanPlace& from);
  PlanValue compared_with(const Condition& condition, const PlanPlace& from);
  void note_unread(const std::string& call, const base::Error& error);
  bool charge(std::size_t bytes);
  bool goes_on();
  void begin_call();
  template <class T>
  base::Result<T> outcome(T&& value);

  const Plan& plan_;
  const PlanFacts& facts_;
  PlanSources& sources_;
  const PlanSources::ReadChild read_child_;
  const PlanLimits limits_;
  std::unordered_map<std::string_view, const PlanStep*> steps_;  // by id
  std::unordered_map<const Condition*, PlanValue> compared_;     // what is compared with, as written
  std::size_t filled_ = 0;
  std::size_t call_filled_ = 0;              // of these, by the call under way
  std::optional<base::Error> problem_ = {};  // of the call under way
  PlanSources::Items part_read_;             // the last items that could not be read to their end
  bool stopped_ = false;
};

}  // namespace baton::agents
