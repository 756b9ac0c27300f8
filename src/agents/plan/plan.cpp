#include "agents/plan/plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>

#include "agents/plan/plan_pointers.h"
#include "json/document.h"

namespace baton::agents {
namespace {

using json::SchemaProblem;
using json::Value;
using std::chrono::milliseconds;
using StepKind = PlanStep::Kind;

constexpr int kIterationsMax = 10'000;
constexpr int kStepsMax = 1'000;

struct NamedKind {
  std::string_view name;
  StepKind kind;
};
constexpr std::array<NamedKind, 8> kKinds{{{"agent", StepKind::agent},
                                           {"sequence", StepKind::sequence},
                                           {"parallel", StepKind::parallel},
                                           {"route", StepKind::route},
                                           {"loop", StepKind::loop},
                                           {"map", StepKind::map},
                                           {"wait", StepKind::wait},
                                           {"ask", StepKind::ask}}};

struct NamedTest {
  std::string_view name;
  Condition::Test test;
};
constexpr std::array<NamedTest, 7> kTests{{{"equals", Condition::Test::equals},
                                           {"differs", Condition::Test::differs},
                                           {"greater", Condition::Test::greater},
                                           {"less", Condition::Test::less},
                                           {"contains", Condition::Test::contains},
                                           {"one_of", Condition::Test::one_of},
                                           {"exists", Condition::Test::exists}}};

milliseconds plan_seconds(Value value, milliseconds otherwise) {
  const auto number = value.real();
  return number ? milliseconds(std::llround(std::ceil(*number * 1000))) : otherwise;
}

// Reads a plan and checks rules that involve several members. The schema has checked types and unknown
// members.
class PlanReader {
 public:
  PlanReader(std::string place, std::vector<SchemaProblem>& problems) : problems_(problems) {
    places_.plan = std::move(place);
  }

  // Returns what `check_pointers` needs.
  PlanPlaces read(Value from, Plan& plan) {
    read_step(from, places_.plan, nullptr, plan.root);
    if (!from["output"].absent()) plan.output = from["output"].json();
    if (!from["show_results"].absent()) plan.shows_results = from["show_results"].boolean();
    plan.budget = read_budget(from["budget"]);
    return std::move(places_);
  }

 private:
  void problem(const std::string& place, std::string reason) {
    problems_.push_back({place, std::move(reason)});
  }

  void read_step(Value from, const std::string& place, const PlanStep* parent, PlanStep& step) {
    step.parent = parent;
    places_.steps[&step] = place;
    std::string_view named;
    for (const NamedKind& one : kKinds) {
      if (from[one.name].missing()) continue;
      if (!named.empty())
        return problem(
            place, "a step must have only one of agent, sequence, parallel, route, loop, map, wait and ask");
      named = one.name;
      step.kind = one.kind;
    }
    if (named.empty())
      return problem(place,
                     "a step must have one of agent, sequence, parallel, route, loop, map, wait and ask");
    if (++count_ > kStepsMax) return problem(place, "the plan has too many steps");
    read_id(from["id"], place, named, step);
    read_common(from, place, step);
    read_kind(from, place + "/" + std::string(named), from[named], step);
  }

  void read_id(Value id, const std::string& place, std::string_view kind, PlanStep& step) {
    step.id = id.absent() ? std::string(kind) + "-" + std::to_string(count_) : id.str();
    if (!places_.ids.emplace(step.id, &step).second) problem(place + "/id", "another step has the same id");
    const bool is_plain = std::ranges::all_of(
        step.id, [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.'; });
    if (!is_plain || step.id.empty() || step.id.size() > 64)
      problem(place + "/id", "must have 1 to 64 letters, digits, - _ or .");
  }

  void read_common(Value from, const std::string& place, PlanStep& step) {
    if (!from["input"].absent()) step.input = from["input"].json();
    const Value retry = from["retry"];
    step.retry.count = static_cast<int>(retry["count"].integer().value_or(0));
    step.retry.delay = plan_seconds(retry["delay_s"], step.retry.delay);
    step.retry.factor = retry["factor"].real().value_or(step.retry.factor);
    step.retry.delay_max = plan_seconds(retry["delay_max_s"], step.retry.delay_max);
    for (const Value kind : retry["on"]) step.retry.on.push_back(kind.str());
    step.timeout = plan_seconds(from["timeout_s"], step.timeout);
    if (from["on_failure"].string() == "continue") step.on_failure = PlanStep::OnFailure::goes_on;
    if (from["on_failure"].string() == "compensate") step.on_failure = PlanStep::OnFailure::compensate;
    if (!from["compensate"].absent()) {
      step.compensation = std::make_unique<PlanStep>();
      read_step(from["compensate"], place + "/compensate", &step, *step.compensation);
    }
    if (step.on_failure == PlanStep::OnFailure::compensate && !step.compensation)
      problem(place + "/on_failure",
              "\"compensate\" requires the member \"compensate\" with the step that undoes this one");
    const bool is_leaf = step.kind == StepKind::agent || step.kind == StepKind::ask;
    for (const char* member : {"retry", "input"}) {
      if (step.kind == StepKind::agent || from[member].absent()) continue;
      problem(place + "/" + member, "is only allowed for steps with an agent");
    }
    read_needless(from, place, step.kind);
    if (!is_leaf && !from["timeout_s"].absent())
      problem(place + "/timeout_s", "is only allowed for steps with an agent and for questions");
  }

  // Notes the members that steps of this kind do not have.
  void read_needless(Value from, const std::string& place, StepKind kind) {
    const bool is_map = kind == StepKind::map, is_loop = kind == StepKind::loop;
    const bool has_branches = is_map || kind == StepKind::parallel;
    const auto check = [&](const char* member, bool is_allowed, const char* where) {
      if (is_allowed || from[member].absent()) return;
      places_.without_effect.push_back(
          {place + "/" + member, std::string("is only allowed for steps with ") + where});
    };
    check("over", is_map, "a map");
    for (const char* member : {"join", "concurrency"}) check(member, has_branches, "parallel or a map");
    check("max", is_map || is_loop, "a loop or a map");
    for (const char* member : {"while", "until"}) check(member, is_loop, "a loop");
    check("auth", kind == StepKind::ask, "a question");
  }

  void read_kind(Value from, const std::string& place, Value what, PlanStep& step) {
    switch (step.kind) {
      case StepKind::agent:
        step.agent = what.str();
        step.skill = what["skill"].str();
        step.tag = what["tag"].str();
        if (step.agent.empty() && step.skill.empty() && step.tag.empty())
          problem(place, "must be an agent's name, or have a \"skill\" or \"tag\"");
        return;
      case StepKind::sequence:
        return read_steps(what, place, step);
      case StepKind::parallel:
        read_steps(what, place, step);
        step.concurrency = static_cast<int>(from["concurrency"].integer().value_or(0));
        return read_join(from, place, step);
      case StepKind::route:
        return read_route(what, place, step);
      case StepKind::loop:
        return read_loop(from, what, place, step);
      case StepKind::map:
        return read_map(from, what, place, step);
      case StepKind::wait:
        return read_wait(what, place, step);
      case StepKind::ask:
        step.question = what.str();
        step.for_auth = from["auth"].boolean();
        return;
    }
  }

  void read_steps(Value list, const std::string& place, PlanStep& step) {
    if (list.size() == 0) problem(place, "must have at least one step");
    for (const Value one : list) {
      const std::string at = place + "/" + std::to_string(step.steps.size());
      step.steps.push_back(std::make_unique<PlanStep>());
      read_step(one, at, &step, *step.steps.back());
    }
  }

  void read_join(Value from, const std::string& place, PlanStep& step) {
    const Value join = from["join"];
    const std::string_view name = join.string();
    if (name == "any") step.join.rule = Join::Rule::any;
    if (name == "best_effort") step.join.rule = Join::Rule::best_effort;
    if (!join.is_object()) return;
    step.join = {Join::Rule::n_of, static_cast<int>(join["n_of"].integer().value_or(1))};
    if (step.kind == StepKind::parallel && step.join.need > std::ssize(step.steps))
      problem(place.substr(0, place.rfind('/')) + "/join", "requires more branches than there are");
  }

  void read_route(Value list, const std::string& place, PlanStep& step) {
    if (list.size() == 0) problem(place, "must have at least one branch");
    for (const Value branch : list) {
      const std::string at = place + "/" + std::to_string(step.steps.size());
      step.steps.push_back(std::make_unique<PlanStep>());
      Condition when{Condition::Test::all, {}, {}, {}};
      if (!branch["when"].absent()) when = read_condition(branch["when"], at + "/when", step);
      step.whens.push_back(std::move(when));
      read_step(branch["then"], at + "/then", &step, *step.steps.back());
    }
  }

  void read_loop(Value from, Value what, const std::string& place, PlanStep& step) {
    const std::string around = place.substr(0, place.rfind('/'));
    step.until = !from["until"].absent();
    if (step.until == !from["while"].absent())
      problem(around, "a loop must have either \"while\" or \"until\"");
    const char* const member = step.until ? "until" : "while";
    step.condition = read_condition(from[member], around + "/" + member, step);
    if (from["max"].absent()) problem(around, "a loop must have \"max\", its maximum number of iterations");
    read_bound(from, around, kIterationsMax, step);
    step.steps.push_back(std::make_unique<PlanStep>());
    read_step(what, place, &step, *step.steps.back());
  }

  void read_map(Value from, Value what, const std::string& place, PlanStep& step) {
    const std::string around = place.substr(0, place.rfind('/'));
    if (from["over"].absent()) problem(around, "a map must have \"over\": a JSON pointer or a list");
    const Value over = from["over"];
    if (!over.absent() && !over.is_string() && !over.is_array())
      problem(around + "/over", "must be a JSON pointer or a list");
    step.over = over.json();
    step.concurrency = static_cast<int>(from["concurrency"].integer().value_or(8));
    read_bound(from, around, 1'000, step);
    read_join(from, place, step);
    step.steps.push_back(std::make_unique<PlanStep>());
    read_step(what, place, &step, *step.steps.back());
  }

  void read_bound(Value from, const std::string& place, int otherwise, PlanStep& step) {
    const auto most = from["max"].integer().value_or(otherwise);
    if (most < 1 || most > kIterationsMax)
      problem(place + "/max", "must be from 1 to " + std::to_string(kIterationsMax));
    step.most = static_cast<int>(std::clamp<std::int64_t>(most, 1, kIterationsMax));
  }

  void read_wait(Value what, const std::string& place, PlanStep& step) {
    const bool is_moment = !what["until"].absent();
    if (is_moment == !what["seconds"].absent()) problem(place, "must have either \"seconds\" or \"until\"");
    step.time = is_moment ? what["until"].json() : what["seconds"].json();
  }

  Condition read_condition(Value from, const std::string& place, const PlanStep& step) {
    Condition read;
    using Test = Condition::Test;
    constexpr std::array<std::string_view, 6> kMembers{"value", "all", "any", "not", "skill", "tag"};
    const auto members =
        std::ranges::count_if(kMembers, [&](std::string_view member) { return !from[member].absent(); });
    if (members > 1)
      places_.without_effect.push_back(
          {place, "must have only one of value, all, any, not, skill and tag; \"all\" combines conditions"});
    for (const auto& [name, test] : {std::pair{"all", Test::all}, {"any", Test::any}, {"not", Test::none}}) {
      if (from[name].absent()) continue;
      read.test = test;
      if (from[name].is_object()) read.parts.push_back(read_condition(from[name], place + "/" + name, step));
      for (const Value part : from[name].is_array() ? from[name] : Value())
        read.parts.push_back(
            read_condition(part, place + "/" + name + "/" + std::to_string(read.parts.size()), step));
      return read;
    }
    // Shorthands for what a caller's message asks for.
    for (const char* member : {"skill", "tag"}) {
      if (from[member].absent()) continue;
      const bool is_skill = std::string_view(member) == "skill";
      return {is_skill ? Test::equals : Test::contains,
              is_skill ? "/message/metadata/skill" : "/message/metadata/tags",
              from[member].json(),
              {}};
    }
    read.pointer = from["value"].str();
    // Accepts "{{pointer}}" too, the form that is used in texts.
    if (read.pointer.starts_with("{{") && read.pointer.find("}}") == read.pointer.size() - 2) {
      read.pointer = pointer_between(read.pointer.substr(2, read.pointer.size() - 4));
    }
    places_.conditions.push_back({read.pointer, place + "/value", &step});
    int tests = 0;
    for (const NamedTest& one : kTests) {
      if (from[one.name].missing()) continue;
      read.test = one.test;
      read.with = from[one.name].json();
      places_.compared.push_back({read.with, place + "/" + std::string(one.name), &step});
      ++tests;
    }
    if (from["value"].absent() || tests != 1)
      problem(place,
              "a condition must be {\"value\": pointer} with one of equals, differs, greater, less, "
              "contains, one_of and exists; or have one of all, any, not, skill and tag");
    return read;
  }

  PlanPlaces places_;
  std::vector<SchemaProblem>& problems_;
  int count_ = 0;
};

// Marks the agent's step whose result becomes the result of `step`, or each such step of a route. There is
// none in a loop, whose next iteration replaces the result, or in a step that joins the results of its
// branches.
void mark_replies(PlanStep& step) {
  if (step.kind == StepKind::agent) step.shows_replies = true;
  if (step.kind == StepKind::route) {
    for (const auto& one : step.steps) mark_replies(*one);
  }
  if (step.kind != StepKind::sequence) return;
  const auto last = std::find_if(step.steps.rbegin(), step.steps.rend(),
                                 [](const auto& one) { return one->kind != StepKind::wait; });
  if (last != step.steps.rend()) mark_replies(**last);
}

// Returns the agent's step whose text is the whole of the template `text`; null if there is none. Leaves out
// steps in loops and maps, because these have several texts.
PlanStep* find_answering(PlanStep& step, const std::string& text) {
  if (step.kind == StepKind::loop || step.kind == StepKind::map) return nullptr;
  if (step.kind == StepKind::agent && text == "{{/steps/" + step.id + "/text}}") return &step;
  for (const auto& one : step.steps) {
    if (PlanStep* found = find_answering(*one, text)) return found;
  }
  return nullptr;
}

void find_replies(Plan& plan) {
  if (plan.output.empty()) return mark_replies(plan.root);
  const auto output = json::Document::view_of(plan.output.text);
  std::string text = (output.root().is_object() ? output.root()["text"] : output.root()).str();
  std::erase(text, ' ');
  PlanStep* answers = find_answering(plan.root, text);
  if (answers != nullptr) answers->shows_replies = true;
  plan.answers = answers;
}

// Reads the steps into `plan` and returns the places that its pointers are checked with; empty if the text
// is not JSON.
std::optional<PlanPlaces> read_steps_of(Plan& plan, std::string_view text, const std::string& place,
                                        std::vector<SchemaProblem>& problems) {
  plan.text = std::string(text);
  const auto document = json::Document::parse_view(plan.text);
  if (!document) {
    problems.push_back({place, document.error().for_caller});
    return std::nullopt;
  }
  PlanPlaces places = PlanReader(place, problems).read(document->root(), plan);
  plan.undoes = has_compensation(plan.root);
  find_replies(plan);
  return places;
}

}  // namespace

std::shared_ptr<const Plan> read_plan(std::string_view text, const std::string& place,
                                      std::vector<SchemaProblem>& problems) {
  auto plan = std::make_shared<Plan>();
  if (const auto places = read_steps_of(*plan, text, place, problems))
    check_pointers(*plan, *places, problems);
  return plan;
}

std::shared_ptr<const Plan> read_begun_plan(std::string_view text) {
  auto plan = std::make_shared<Plan>();
  std::vector<SchemaProblem> problems;
  read_steps_of(*plan, text, {}, problems);
  return problems.empty() ? std::move(plan) : nullptr;
}

task::Budget read_budget(Value from) {
  task::Budget budget;
  budget.tokens = from["max_tokens"].integer();
  budget.children = from["max_children"].integer();
  budget.depth = from["max_depth"].integer();
  budget.rounds = from["max_rounds"].integer();
  if (!from["max_wall_s"].absent()) budget.wall = plan_seconds(from["max_wall_s"], {});
  return budget;
}

std::vector<std::string> agents_of(const Plan& plan) {
  std::vector<std::string> agents;
  for_each_step(plan.root, [&](const PlanStep& step) {
    if (!step.agent.empty() && std::ranges::count(agents, step.agent) == 0) agents.push_back(step.agent);
  });
  return agents;
}

bool stands_in(const PlanStep& step, const PlanStep& around) {
  const PlanStep* one = &step;
  while (one != nullptr && one != &around) one = one->parent;
  return one != nullptr;
}

bool has_compensation(const PlanStep& step) {
  bool has = false;
  for_each_step(step, [&](const PlanStep& one) { has |= one.compensation != nullptr; });
  return has;
}

}  // namespace baton::agents
