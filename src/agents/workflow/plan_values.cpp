#include "agents/workflow/plan_values.h"

#include <algorithm>
#include <ranges>

#include "agents/plan_pointers.h"
#include "agents/workflow/plan_failures.h"
#include "json/writer.h"

namespace baton::agents {
namespace {

using json::Value;
using StepKind = PlanStep::Kind;
using Test = Condition::Test;

constexpr std::size_t kFilledMax = std::size_t{4} << 20;

task::Json json_of(std::string_view text) {
  task::Json json;
  json::Writer(json.text).string(text);
  return json;
}

task::Json json_of(std::int64_t number) {
  return {std::to_string(number)};
}

bool begins_with(std::string_view pointer, std::string_view root) {
  return pointer == root || (pointer.starts_with(root) && pointer[root.size()] == '/');
}

task::Json json_at(const task::Json& from, std::string_view pointer) {
  if (pointer.empty()) return from;
  const auto document = json::Document::view_of(from.text);
  const Value value = json::value_at(document.root(), pointer);
  return value.missing() ? task::Json{} : value.json();
}

bool same(Value one, Value other) {
  if (one.is_string() && other.is_string()) return one.string() == other.string();
  if (one.is_number() && other.is_number()) return one.real() == other.real();
  return !one.missing() && one.raw() == other.raw();
}

task::Json facts_of(const task::Part& part) {
  task::Json facts;
  json::Writer out(facts.text);
  out.object([&] {
    out.optional("name", part.filename).optional("mediaType", part.media_type);
    if (part.kind == task::Part::Kind::text) out.member("text", part.content);
    if (part.kind == task::Part::Kind::data) out.key("data").raw(part.content);
  });
  return facts;
}

std::string text_of(Value value) {
  return value.is_string() ? value.str() : std::string(value.raw());
}

}  // namespace

// The place of `step` that a pointer in the step at `from` means: in the same round of a loop around both, or
// in the one before if it comes later.
PlanPlace PlanValues::place_of(const PlanStep& step, const PlanPlace& from) const {
  Iterations iterations = from.iterations;
  for (auto& [loop, index] : std::views::reverse(iterations)) {
    if (loop->kind != StepKind::loop || !stands_in(step, *loop)) continue;
    if (index > 0 && comes_later(*find_at(plan_, from.path).step, step)) --index;
    break;
  }
  return place_among(step, iterations);
}

// In these iterations of the loops and maps around it, and in the last of those that are not among them.
PlanPlace PlanValues::place_among(const PlanStep& step, const Iterations& iterations) const {
  if (step.parent == nullptr) return {step.id, {}};
  const PlanPlace around = place_among(*step.parent, iterations);
  const bool repeats = (step.parent->kind == StepKind::loop || step.parent->kind == StepKind::map) &&
                       step.parent->compensation.get() != &step;
  if (!repeats) return place_in(around, step);
  const auto own = std::ranges::find(iterations, step.parent, &Iterations::value_type::first);
  return place_of_iteration(around, *step.parent,
                            own == iterations.end() ? facts_.chosen(around.path).value_or(0) : own->second);
}

std::string PlanValues::state_of(const PlanStep& step, const PlanPlace& at) const {
  if (const PlanEnd* end = facts_.settled(at.path)) return end->failure.empty() ? "completed" : end->failure;
  if (const auto* attempts = facts_.attempts(at.path)) {
    if (attempts->open) return "working";
    return attempts->end.failure.empty() ? "completed" : attempts->end.failure;
  }
  if (step.kind == StepKind::route || step.kind == StepKind::sequence) {
    std::string state;
    for (const auto& one : step.steps) {
      std::string inner = state_of(*one, place_in(at, *one));
      if (!inner.empty()) state = std::move(inner);
    }
    return state;
  }
  return {};
}

std::string PlanValues::error_of(const PlanStep& step, const PlanPlace& at) const {
  if (const PlanEnd* end = facts_.settled(at.path)) return end->text;
  if (const auto* attempts = facts_.attempts(at.path)) return attempts->open ? "" : attempts->end.text;
  for (const auto& one : step.steps) {
    if (step.kind != StepKind::route && step.kind != StepKind::sequence) break;
    const PlanPlace place = place_in(at, *one);
    std::string error = error_of(*one, place);
    if (error.empty()) continue;
    const auto* attempts = facts_.attempts(place.path);
    return attempts == nullptr ? error : named_failure(*one, place, attempts->end).text;
  }
  return {};
}

std::vector<std::string> PlanValues::results_of(const PlanStep& step, const PlanPlace& at) {
  std::vector<std::string> calls;
  const auto add = [&](const PlanStep& inner, const PlanPlace& place) {
    for (std::string& call : results_of(inner, place)) calls.push_back(std::move(call));
  };
  switch (step.kind) {
    case StepKind::agent:
    case StepKind::ask: {
      const auto* attempts = facts_.attempts(at.path);
      if (attempts != nullptr && !attempts->open && attempts->end.failure.empty())
        calls.push_back(name_of_call(at.path, attempts->number));
      break;
    }
    case StepKind::sequence:
      for (auto one = step.steps.rbegin(); one != step.steps.rend() && calls.empty(); ++one)
        add(**one, place_in(at, **one));
      break;
    case StepKind::parallel:
      for (const auto& one : step.steps) add(*one, place_in(at, *one));
      break;
    case StepKind::route: {
      const int branch = facts_.chosen(at.path).value_or(-1);
      if (branch >= 0 && branch < std::ssize(step.steps))
        add(*step.steps[static_cast<std::size_t>(branch)],
            place_in(at, *step.steps[static_cast<std::size_t>(branch)]));
      break;
    }
    case StepKind::loop:
      for (int index = facts_.chosen(at.path).value_or(-1); index >= 0 && calls.empty(); --index)
        add(*step.steps.front(), place_of_iteration(at, step, index));
      break;
    case StepKind::map:
      for (int index = 0; index < facts_.chosen(at.path).value_or(0); ++index)
        add(*step.steps.front(), place_of_iteration(at, step, index));
      break;
    case StepKind::wait:
      break;
  }
  return calls;
}

const task::Task* PlanValues::child(const std::string& call) {
  const auto known = children_.find(call);
  if (known != children_.end()) return known->second ? &*known->second : nullptr;
  auto read = read_child_(call);
  auto& kept = children_[call];
  if (read) kept = std::move(*read);
  return kept ? &*kept : nullptr;
}

std::optional<std::pair<const PlanStep*, int>> PlanValues::innermost(StepKind kind,
                                                                     const PlanPlace& from) const {
  const auto found = std::find_if(from.iterations.rbegin(), from.iterations.rend(),
                                  [&](const auto& one) { return one.first->kind == kind; });
  return found == from.iterations.rend() ? std::nullopt : std::optional(*found);
}

task::Json PlanValues::value(const std::string& pointer, const PlanPlace& from) {
  const std::string_view all(pointer);
  if (begins_with(all, "/message")) {
    const std::string_view rest = all.substr(8);
    if (rest == "/text") return json_of(task::text_of(message_));
    if (begins_with(rest, "/data")) return json_at(data_in(message_.parts), rest.substr(5));
    if (begins_with(rest, "/metadata")) return json_at(message_.metadata, rest.substr(9));
    return {};
  }
  if (begins_with(all, "/item") || all == "/index") {
    const auto map = innermost(StepKind::map, from);
    if (!map) return {};
    if (all == "/index") return json_of(static_cast<std::int64_t>(map->second));
    const Items& items = items_of(*map->first, place_among(*map->first, from.iterations));
    const auto index = static_cast<std::size_t>(map->second);
    return index < items.values.size() ? json_at(items.values[index], all.substr(5)) : task::Json{};
  }
  if (all == "/iteration") {
    const auto loop = innermost(StepKind::loop, from);
    return loop ? json_of(static_cast<std::int64_t>(loop->second)) : task::Json{};
  }
  return begins_with(all, "/steps") ? step_value(pointer.substr(6), from) : task::Json{};
}

task::Json PlanValues::step_value(const std::string& rest, const PlanPlace& from) {
  if (rest.empty()) return {};
  const std::string id = rest.substr(1, rest.find('/', 1) - 1);
  const PlanStep* step = find_step(plan_.root, id);
  if (step == nullptr) return {};
  const std::string_view what = std::string_view(rest).substr(std::min(rest.size(), id.size() + 1));
  const PlanPlace at = place_of(*step, from);
  if (what == "/state" || what == "/error") {
    // A later attempt sees how the last one has ended.
    const PlanPlace now = place_among(*step, from.iterations);
    const auto* own = now.path == from.path ? facts_.attempts(now.path) : nullptr;
    const PlanPlace& told = own != nullptr && !own->open ? now : at;
    return json_of(what == "/state" ? state_of(*step, told) : error_of(*step, told));
  }
  if (begins_with(what, "/results")) return json_at(results(*step, at), what.substr(8));
  std::string text;
  bool has_text = false;
  for (const std::string& call : results_of(*step, at)) {
    const task::Task* task = child(call);
    if (task == nullptr) continue;
    if (what == "/task") return json_of(task->id.value);
    if (begins_with(what, "/data")) return json_at(data_of_result(*task), what.substr(5));
    if (has_text) text += "\n\n";
    text += text_of_result(*task);
    has_text = true;
    if (text.size() > kFilledMax) break;
  }
  return what == "/text" && has_text ? json_of(text) : task::Json{};
}

// Of a map or parallel: one for each item or branch, in their order.
task::Json PlanValues::results(const PlanStep& step, const PlanPlace& at) {
  task::Json list;
  json::Writer out(list.text);
  const auto write = [&](const PlanStep& inner, const PlanPlace& place) {
    out.object([&] {
      out.member("state", state_of(inner, place)).optional("error", error_of(inner, place));
      const auto calls = results_of(inner, place);
      const task::Task* task = calls.empty() ? nullptr : child(calls.front());
      if (task == nullptr) return;
      out.member("text", text_of_result(*task)).optional("data", data_of_result(*task));
    });
  };
  out.array([&] {
    if (step.kind == StepKind::map) {
      for (int index = 0; index < facts_.chosen(at.path).value_or(0); ++index)
        write(*step.steps.front(), place_of_iteration(at, step, index));
    } else if (step.kind == StepKind::parallel) {
      for (const auto& one : step.steps) write(*one, place_in(at, *one));
    } else {
      write(step, at);
    }
  });
  return list;
}

const PlanValues::Items& PlanValues::items_of(const PlanStep& map, const PlanPlace& at) {
  const auto known = items_.find(at.path);
  if (known != items_.end()) return known->second;
  Items items;
  const auto over = json::Document::view_of(map.over.text);
  task::Json list = map.over;
  if (over.root().is_string()) {
    const std::string pointer = over.root().str();
    if (pointer.ends_with("/files") || pointer.ends_with("/parts")) {
      items.parts = files(pointer, at);
      for (const task::Part& part : items.parts) items.values.push_back(facts_of(part));
      return items_.emplace(at.path, std::move(items)).first->second;
    }
    list = value(pointer, at);
  }
  const auto document = json::Document::view_of(list.text);
  for (const Value one : document.root().is_array() ? document.root() : Value())
    items.values.push_back(one.json());
  return items_.emplace(at.path, std::move(items)).first->second;
}

int PlanValues::count_items(const PlanStep& map, const PlanPlace& at) {
  return static_cast<int>(items_of(map, at).values.size());
}

std::string PlanValues::fill(const std::string& text, const PlanPlace& from) {
  std::string filled;
  std::size_t at = 0;
  for (std::size_t mark = text.find("{{"); mark != std::string::npos; mark = text.find("{{", at)) {
    const std::size_t end = text.find("}}", mark);
    if (end == std::string::npos) break;
    filled.append(text, at, mark - at);
    std::string pointer = text.substr(mark + 2, end - mark - 2);
    std::erase(pointer, ' ');
    const task::Json found = value(pointer, from);
    const auto document = json::Document::view_of(found.text);
    filled += text_of(document.root());
    at = end + 2;
    if (filled.size() > kFilledMax) break;
  }
  return filled.append(text, at, std::string::npos);
}

// A string that is one {{pointer}} becomes the value itself.
std::string PlanValues::filled(Value from, const PlanPlace& place) {
  std::string text;
  json::Writer out(text);
  if (from.is_string()) {
    std::string whole = from.str();
    const bool is_one = whole.starts_with("{{") && whole.find("}}") == whole.size() - 2;
    if (!is_one) {
      out.string(fill(whole, place));
      return text;
    }
    std::string pointer = whole.substr(2, whole.size() - 4);
    std::erase(pointer, ' ');
    const task::Json found = value(pointer, place);
    return found.empty() ? "null" : found.text;
  }
  if (from.is_array()) {
    out.array([&] {
      for (const Value one : from) out.raw(filled(one, place));
    });
  } else if (from.is_object()) {
    out.object([&] {
      for (const Value one : from) out.key(one.key()).raw(filled(one, place));
    });
  } else {
    out.raw(from.raw());
  }
  return text;
}

std::vector<task::Part> PlanValues::files(const std::string& pointer, const PlanPlace& from) {
  if (pointer == "/message/files") return without_text(message_.parts);
  if (pointer == "/message/parts") return message_.parts;
  if (pointer == "/item") {
    const auto map = innermost(StepKind::map, from);
    if (!map) return {};
    const Items& items = items_of(*map->first, place_among(*map->first, from.iterations));
    const auto index = static_cast<std::size_t>(map->second);
    return index < items.parts.size() ? std::vector{items.parts[index]} : std::vector<task::Part>();
  }
  if (!pointer.starts_with("/steps/")) return {};
  const std::string id = pointer.substr(7, pointer.find('/', 7) - 7);
  const PlanStep* step = find_step(plan_.root, id);
  if (step == nullptr) return {};
  std::vector<task::Part> all;
  for (const std::string& call : results_of(*step, place_of(*step, from))) {
    const task::Task* task = child(call);
    if (task == nullptr) continue;
    if (pointer.ends_with("/parts")) all.push_back(task::Part::of_text(text_of_result(*task)));
    for (task::Part& part : files_of_result(*task)) all.push_back(std::move(part));
  }
  return all;
}

std::vector<task::Part> PlanValues::parts_of(const task::Json& input, const PlanPlace& from) {
  const auto document = json::Document::view_of(input.text);
  const Value root = document.root();
  if (root.missing()) return message_.parts;
  if (root.is_string()) return {task::Part::of_text(fill(root.str(), from))};
  std::vector<task::Part> parts;
  if (!root["text"].absent()) parts.push_back(task::Part::of_text(fill(root["text"].str(), from)));
  if (!root["data"].missing()) parts.push_back(task::Part::of_data({filled(root["data"], from)}));
  for (const Value pointer : root["files"]) {
    for (task::Part& part : files(pointer.str(), from)) parts.push_back(std::move(part));
  }
  if (parts.empty()) parts.push_back(task::Part::of_text(""));
  return parts;
}

bool PlanValues::holds(const Condition& condition, const PlanPlace& from) {
  const auto is_true = [&](const Condition& part) { return holds(part, from); };
  if (condition.test == Test::all) return std::ranges::all_of(condition.parts, is_true);
  if (condition.test == Test::any) return std::ranges::any_of(condition.parts, is_true);
  if (condition.test == Test::none) return std::ranges::none_of(condition.parts, is_true);
  const task::Json found = value(condition.pointer, from);
  const auto one = json::Document::view_of(found.text), other = json::Document::view_of(condition.with.text);
  const Value is = one.root(), with = other.root();
  const auto is_same = [&](Value element) { return same(element, with); };
  const auto among = [](Value list, const auto& test) {
    bool is_among = false;
    for (const Value element : list.is_array() ? list : Value()) is_among = is_among || test(element);
    return is_among;
  };
  switch (condition.test) {
    case Test::equals:
      return same(is, with);
    case Test::differs:
      return !same(is, with);
    case Test::greater:
      return is.real() && with.real() && *is.real() > *with.real();
    case Test::less:
      return is.real() && with.real() && *is.real() < *with.real();
    case Test::contains:
      return is.is_string() ? is.string().find(with.string()) != std::string_view::npos : among(is, is_same);
    case Test::one_of:
      return among(with, [&](Value element) { return same(is, element); });
    default:
      return is.absent() != with.boolean();
  }
}

}  // namespace baton::agents
