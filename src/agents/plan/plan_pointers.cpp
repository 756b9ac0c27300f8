#include "agents/plan/plan_pointers.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "json/document.h"

namespace baton::agents {
namespace {

using json::SchemaProblem;
using json::Value;
using StepKind = PlanStep::Kind;

// A step and those around it, the plan's root first. Ends before the first compensation among them.
struct Chain {
  std::vector<const PlanStep*> steps;
  bool is_cut = false;
};

Chain chain_of(const PlanStep& step) {
  Chain chain;
  for (const PlanStep* one = &step; one != nullptr; one = one->parent) {
    chain.steps.push_back(one);
    if (one->parent == nullptr || one->parent->compensation.get() != one) continue;
    chain.steps.clear();
    chain.is_cut = true;
  }
  std::ranges::reverse(chain.steps);
  return chain;
}

std::ptrdiff_t index_in(const PlanStep& around, const PlanStep* step) {
  return std::ranges::find(around.steps, step, &std::unique_ptr<PlanStep>::get) - around.steps.begin();
}

// Whether the last step of the chain begins exactly once, at the same moment as the step at `from`.
bool begins_with(const Chain& chain, std::size_t from) {
  const PlanStep& last = *chain.steps.back();
  if (last.retry.count > 0 || last.kind == StepKind::loop) return false;
  for (std::size_t at = from; at + 1 < chain.steps.size(); ++at) {
    const PlanStep& around = *chain.steps[at];
    const std::ptrdiff_t index = index_in(around, chain.steps[at + 1]);
    if (around.kind == StepKind::loop || around.kind == StepKind::map) return false;
    if (around.kind == StepKind::sequence && index > 0) return false;
    if (around.kind == StepKind::parallel && around.concurrency > 0 && index >= around.concurrency)
      return false;
  }
  return true;
}

// Returns why `reader` can never find a value of `named`, as a noun phrase; empty if it can. The next
// iteration of a loop finds the values of the one before, a later attempt finds those that came meanwhile,
// and a compensation finds all values.
std::string never_known(const PlanStep& reader, const PlanStep& named, const std::string& pointer) {
  const std::string later = "a step that starts only after this value is read";
  const Chain from = chain_of(reader), to = chain_of(named);
  if (from.is_cut) return {};
  const auto [a, b] = std::ranges::mismatch(from.steps, to.steps);
  const auto common = static_cast<std::size_t>(a - from.steps.begin());
  if (std::any_of(from.steps.begin(), a, [](const PlanStep* one) { return one->kind == StepKind::loop; }))
    return {};
  if (b == to.steps.end()) {
    if (to.is_cut) return later;
    return a != from.steps.end() || reader.retry.count > 0
               ? ""
               : "the step itself, which has not ended when this value is read";
  }
  if (a == from.steps.end()) return later;
  const PlanStep& around = *from.steps[common - 1];
  if (around.kind == StepKind::route) return "a step in another branch of the route";
  if (around.kind == StepKind::sequence) return index_in(around, *b) > index_in(around, *a) ? later : "";
  if (around.kind != StepKind::parallel || !begins_with(from, common - 1)) return {};
  const std::string member = pointer.substr(pointer.rfind('/'));
  const bool shows_progress = member == "/state" || pointer.find("/results") != std::string::npos;
  return shows_progress ? "" : "a step that has not ended when this one starts";
}

class PointerChecks {
 public:
  PointerChecks(const PlanPlaces& places, std::vector<SchemaProblem>& problems)
      : places_(places), problems_(problems) {}

  void run(const Plan& plan) {
    problems_.insert(problems_.end(), places_.without_effect.begin(), places_.without_effect.end());
    check_input(plan.output, places_.plan + "/output");
    check_inputs(plan.root);
    for (const auto& [pointer, place, step] : places_.conditions) {
      reader_ = step;
      check_pointer(pointer, place);
    }
    for (const auto& [with, place, step] : places_.compared) {
      reader_ = step;
      check_strings(json::Document::view_of(with.text).root(), place);
    }
  }

 private:
  void problem(const std::string& place, std::string reason) {
    problems_.push_back({place, std::move(reason)});
  }

  void check_inputs(const PlanStep& step) {
    const std::string& place = places_.steps.at(&step);
    reader_ = &step;
    check_input(step.input, place + "/input");
    check_over(step.over, place + "/over");
    check_strings(json::Document::view_of(step.time.text).root(), place + "/wait/until");
    check_text(step.question, place + "/ask");
    for (const auto& one : step.steps) check_inputs(*one);
    if (step.compensation) check_inputs(*step.compensation);
  }

  void check_input(const task::Json& input, const std::string& place) {
    const auto document = json::Document::view_of(input.text);
    const Value root = document.root();
    check_strings(root.is_object() ? root["text"] : root, place);
    check_strings(root["data"], place + "/data");
    for (const Value file : root["files"]) check_files(file.str(), place + "/files");
  }

  // Checks a pointer to a list of files or to one file.
  void check_files(std::string pointer, const std::string& place) {
    const std::size_t before = problems_.size();
    check_pointer(pointer, place);
    if (problems_.size() > before) return;
    if (pointer == "/item") return check_file_item(place);
    const std::size_t mark = pointer.rfind('/');
    const std::string last = pointer.substr(mark + 1);
    const bool is_index =
        !last.empty() && last.size() < 10 && last.find_first_not_of("0123456789") == std::string::npos;
    const std::string list = is_index ? pointer.substr(0, mark) : pointer;
    if (!names_files(list))
      problem(place, "\"" + pointer +
                         "\" must be a list of files, such as /message/files, or one of them, such "
                         "as /message/files/0");
  }

  // Only a list of files has files as its items.
  void check_file_item(const std::string& place) {
    const PlanStep* map = repeating(StepKind::map);
    const auto over = json::Document::view_of(map->over.text);
    if (!over.root().is_string() || !names_files(over.root().string()))
      problem(place, "\"/item\" is not a file, because the map goes over no list of files");
  }

  void check_over(const task::Json& over, const std::string& place) {
    const auto document = json::Document::view_of(over.text);
    if (document.root().is_string()) return check_pointer(document.root().str(), place);
    check_strings(document.root(), place);
  }

  // The innermost map or loop whose iterations the reader is in; null if there is none.
  const PlanStep* repeating(StepKind kind) const {
    // The reader is a loop: its condition is read.
    if (reader_ != nullptr && kind == StepKind::loop && reader_->kind == kind) return reader_;
    for (const PlanStep* one = reader_; one != nullptr && one->parent != nullptr; one = one->parent) {
      if (one->parent->kind == kind && one->parent->compensation.get() != one) return one->parent;
    }
    return nullptr;
  }

  // Checks a pointer that begins with /item, /index or /iteration.
  void check_repeated(const std::string& pointer, const std::string& place) {
    const std::string name = pointer.substr(0, pointer.find('/', 1));
    const bool is_round = name == "/iteration";
    if (repeating(is_round ? StepKind::loop : StepKind::map) == nullptr)
      return problem(place, "\"" + pointer + "\" has a value only within a " + (is_round ? "loop" : "map"));
    if (name != "/item" && name != pointer)
      problem(place, "\"" + pointer + "\" has no value, because " + name + " is a number");
  }

  void check_strings(Value value, const std::string& place) {
    if (value.is_string()) check_text(value.str(), place);
    if (!value.is_object() && !value.is_array()) return;
    for (const Value one : value) check_strings(one, place);
  }

  void check_text(const std::string& text, const std::string& place) {
    for (std::size_t at = text.find("{{"); at != std::string::npos; at = text.find("{{", at + 2)) {
      const std::size_t end = text.find("}}", at);
      if (end == std::string::npos) return problem(place, "has \"{{\" without \"}}\"");
      check_pointer(pointer_between(std::string_view(text).substr(at + 2, end - at - 2)), place);
    }
  }

  void check_pointer(const std::string& pointer, const std::string& place) {
    const auto is_root = [&](std::string_view root) {
      return pointer == root || pointer.starts_with(std::string(root) + "/");
    };
    if (is_root("/item") || is_root("/index") || is_root("/iteration")) return check_repeated(pointer, place);
    if (is_root("/message"))
      return check_member(pointer, 8, {"text", "data", "metadata", "files", "parts"}, place);
    if (!is_root("/steps"))
      return problem(place,
                     "\"" + pointer + "\" must begin with /message, /steps, /item, /index or /iteration");
    const std::string rest = pointer.substr(std::min<std::size_t>(pointer.size(), 7));
    const std::string id = rest.substr(0, rest.find('/'));
    const auto step = places_.ids.find(id);
    if (step == places_.ids.end())
      return problem(place, "\"" + pointer + "\" names a step that is not in the plan");
    const std::string why =
        reader_ != nullptr ? never_known(*reader_, *step->second, pointer) : std::string();
    if (!why.empty()) return problem(place, "\"" + pointer + "\" names " + why);
    check_member(pointer, 7 + id.size(),
                 {"text", "data", "files", "parts", "state", "error", "task", "results"}, place);
  }

  // Checks the path segment after the first `length` bytes.
  void check_member(const std::string& pointer, std::size_t length, const std::vector<std::string>& members,
                    const std::string& place) {
    const std::string rest = pointer.substr(std::min(pointer.size(), length + 1));
    const std::string member = rest.substr(0, rest.find('/'));
    const bool is_text = member == "text" || member == "state" || member == "error" || member == "task";
    if (std::ranges::find(members, member) == members.end())
      return wrong_member(pointer, length, members, place);
    if (is_text && member.size() < rest.size())
      problem(place, "\"" + pointer + "\" has no value, because " +
                         pointer.substr(0, length + 1 + member.size()) + " is a text");
  }

  void wrong_member(const std::string& pointer, std::size_t length, const std::vector<std::string>& members,
                    const std::string& place) {
    problem(place, "\"" + pointer + "\" must continue after " + pointer.substr(0, length) + " with one of " +
                       base::comma_separated(members));
  }

  const PlanPlaces& places_;
  std::vector<SchemaProblem>& problems_;
  const PlanStep* reader_ = nullptr;  // null: the plan's output, which is read when all steps have ended
};

}  // namespace

std::string pointer_between(std::string_view braces) {
  const std::size_t first = braces.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return std::string(braces.substr(first, braces.find_last_not_of(' ') + 1 - first));
}

bool names_files(std::string_view pointer) {
  if (!pointer.ends_with("/files") && !pointer.ends_with("/parts")) return false;
  constexpr std::string_view kSteps = "/steps/";
  const std::string_view owner = pointer.substr(0, pointer.rfind('/'));
  const bool is_step = owner.starts_with(kSteps) && owner.find('/', kSteps.size()) == std::string_view::npos;
  return owner == "/message" || is_step;
}

bool comes_later(const PlanStep& reader, const PlanStep& named) {
  const Chain from = chain_of(reader), to = chain_of(named);
  if (from.is_cut || to.is_cut) return false;
  const auto [a, b] = std::ranges::mismatch(from.steps, to.steps);
  if (b == to.steps.end()) return true;
  if (a == from.steps.end()) return reader.kind != StepKind::loop;
  const PlanStep& around = **std::prev(a);
  if (around.kind == StepKind::sequence) return index_in(around, *b) > index_in(around, *a);
  return around.kind == StepKind::parallel;
}

void check_pointers(const Plan& plan, const PlanPlaces& places, std::vector<SchemaProblem>& problems) {
  PointerChecks(places, problems).run(plan);
}

}  // namespace baton::agents
