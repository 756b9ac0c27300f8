#include "agents/plan/plan_values.h"

#include <algorithm>
#include <charconv>
#include <compare>
#include <limits>
#include <ranges>

#include "agents/plan/plan_failures.h"
#include "agents/plan/plan_pointers.h"
#include "base/text.h"

namespace baton::agents {
namespace {

using base::ErrorCode;
using json::Value;
using StepKind = PlanStep::Kind;
using Test = Condition::Test;

constexpr std::size_t kShownValueMax = 60;  // bytes of a value in an error

PlanValue number_value(std::int64_t number) {
  return parsed_value(std::to_string(number));
}

bool begins_with(std::string_view pointer, std::string_view root) {
  return pointer == root || (pointer.starts_with(root) && pointer[root.size()] == '/');
}

PlanValue value_within(const PlanValue& from, std::string_view pointer) {
  return {json::value_at(from.value, pointer), from.owner};
}

// A number, or a text that is one.
std::optional<double> number_in(Value value) {
  if (!value.is_string()) return value.real();
  const std::string_view text = base::trimmed(value.string());
  const bool is_plain = !text.empty() && text.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = is_plain && error == std::errc() && end == text.data() + text.size();
  return is_whole ? std::optional(number) : std::nullopt;
}

// The order of two numbers, or texts that are numbers; unordered if one of them is neither. Integers are
// compared as such, because a double does not tell large ones apart.
std::partial_ordering order_of(Value one, Value other) {
  const auto integer_in = [](Value value) {
    return value.is_string() ? base::number_in<std::int64_t>(base::trimmed(value.string())) : value.integer();
  };
  const auto integer = integer_in(one), other_integer = integer_in(other);
  if (integer && other_integer) return *integer <=> *other_integer;
  const auto number = number_in(one), other_number = number_in(other);
  return number && other_number ? *number <=> *other_number : std::partial_ordering::unordered;
}

// True or false, or a text that is one.
std::optional<bool> truth_in(Value value) {
  if (value.is_bool()) return value.boolean();
  const std::string_view text = base::trimmed(value.string());
  if (text == "true") return true;
  return text == "false" ? std::optional(false) : std::nullopt;
}

bool same(Value one, Value other) {
  if (one.is_string() && other.is_string()) return one.string() == other.string();
  if (one.is_bool() || other.is_bool()) {
    const auto truth = truth_in(one);
    return truth && truth == truth_in(other);
  }
  if (one.is_number() || other.is_number()) return order_of(one, other) == 0;
  return !one.missing() && json::same_value(one, other);
}

bool among(Value list, const auto& test) {
  for (const Value element : list) {
    if (test(element)) return true;
  }
  return false;
}

// For an error's text.
std::string shown(Value value) {
  if (value.absent()) return "nothing";
  const std::string_view raw = value.raw();
  if (raw.size() <= kShownValueMax) return std::string(raw);
  return std::string(base::beginning_of(raw, kShownValueMax)) + "…";
}

std::string what_was_found(Value value) {
  switch (value.type()) {
    case Value::Type::string:
      return "the string " + shown(value);
    case Value::Type::number:
      return "the number " + shown(value);
    case Value::Type::object:
      return "an object";
    default:
      return shown(value);
  }
}

std::string state_name_after(const PlanEnd& end) {
  if (end.failure.empty()) return "completed";
  return end.failure == kBadInput ? "failed" : end.failure;
}

void add_facts(json::Writer& out, const task::Part& part) {
  out.object([&] {
    out.optional("name", part.filename).optional("mediaType", part.media_type);
    if (part.kind == task::Part::Kind::text) out.member("text", part.content);
    if (part.kind == task::Part::Kind::data) out.key("data").raw(part.content);
  });
}

// Describes the files as a list of objects, which are the items of a map over the files.
std::string facts_of(const std::vector<task::Part>& parts) {
  std::string facts;
  json::Writer out(facts);
  out.each(parts, [&](const task::Part& part) { add_facts(out, part); });
  return facts;
}

std::size_t size_of(const std::vector<task::Part>& parts) {
  std::size_t size = 0;
  for (const task::Part& part : parts) size += part.content.size();
  return size;
}

// The text is one {{pointer}} and nothing else.
bool is_one_pointer(std::string_view text) {
  return text.starts_with("{{") && text.find("}}") == text.size() - 2;
}

}  // namespace

PlanValues::PlanValues(const Plan& plan, const PlanFacts& facts, PlanSources& sources,
                       PlanSources::ReadChild read_child, PlanLimits limits)
    : plan_(plan),
      facts_(facts),
      sources_(sources),
      read_child_(std::move(read_child)),
      limits_(std::move(limits)) {}

// --- the call under way ---

void PlanValues::begin_call() {
  call_filled_ = 0;
  problem_.reset();
}

template <class T>
base::Result<T> PlanValues::outcome(T&& value) {
  if (problem_) return base::fail(*std::exchange(problem_, std::nullopt));
  return std::forward<T>(value);
}

// Counts more bytes as filled in. Returns whether the call may continue.
bool PlanValues::charge(std::size_t bytes) {
  filled_ += bytes;
  call_filled_ += bytes;
  if (call_filled_ > limits_.fill_max && !problem_)
    problem_ = base::Error{ErrorCode::too_large,
                           "more than " + std::to_string(limits_.fill_max) +
                               " bytes of values for one step (limits.plan_fill_max)",
                           {}};
  return !problem_;
}

// Whether the call may continue. For loops over received data.
bool PlanValues::goes_on() {
  if (!stopped_ && limits_.is_wanted && !limits_.is_wanted()) stopped_ = true;
  return !stopped_ && !problem_;
}

// --- places ---

// The place of `step` that a pointer in the step at `from` refers to: in the same iteration of a loop
// around both, or in the previous iteration if `step` comes later.
PlanPlace PlanValues::place_of(const PlanStep& step, const PlanPlace& from) const {
  Iterations iterations = from.iterations;
  for (auto& [loop, index] : std::views::reverse(iterations)) {
    if (loop->kind != StepKind::loop || !stands_in(step, *loop)) continue;
    if (index > 0 && comes_later(*find_at(plan_, from.path).step, step)) --index;
    break;
  }
  return place_among(step, iterations);
}

// The place of `step` in these iterations of the loops and maps around it. For a loop or map that is not
// among them, it is in the last iteration.
PlanPlace PlanValues::place_among(const PlanStep& step, const Iterations& iterations) const {
  if (step.parent == nullptr) return {step.id, {}};
  const PlanPlace around = place_among(*step.parent, iterations);
  const bool repeats = (step.parent->kind == StepKind::loop || step.parent->kind == StepKind::map) &&
                       step.parent->compensation.get() != &step;
  if (!repeats) return place_in(around, step);
  const auto own = std::ranges::find(iterations, step.parent, &Iterations::value_type::first);
  if (own != iterations.end()) return place_of_iteration(around, *step.parent, own->second);
  // A map has chosen the number of its items, a loop the index of its iteration.
  const int chosen = facts_.chosen(around.path).value_or(0);
  return place_of_iteration(around, *step.parent, step.parent->kind == StepKind::map ? chosen - 1 : chosen);
}

std::string PlanValues::state_of(const PlanStep& step, const PlanPlace& at) const {
  if (const PlanEnd* end = facts_.settled(at.path)) return state_name_after(*end);
  if (const auto* attempts = facts_.attempts(at.path))
    return attempts->open ? "working" : state_name_after(attempts->end);
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

// --- values ---

// Adds names until `calls` has `most` of them.
void PlanValues::add_results(const PlanStep& step, const PlanPlace& at, std::size_t most,
                             std::vector<std::string>& calls) const {
  const auto add = [&](const PlanStep& inner, const PlanPlace& place) {
    if (calls.size() < most) add_results(inner, place, most, calls);
  };
  const auto add_branch = [&](const PlanStep& inner, const PlanPlace& place) {
    if (!facts_.has_lost(place.path)) add(inner, place);
  };
  const std::size_t before = calls.size();
  switch (step.kind) {
    case StepKind::agent:
    case StepKind::ask: {
      const auto* attempts = facts_.attempts(at.path);
      if (attempts != nullptr && !attempts->open && attempts->end.failure.empty())
        calls.push_back(name_of_call(at.path, attempts->number));
      break;
    }
    case StepKind::sequence:
      for (auto one = step.steps.rbegin(); one != step.steps.rend() && calls.size() == before; ++one)
        add(**one, place_in(at, **one));
      break;
    case StepKind::parallel:
      for (const auto& one : step.steps) add_branch(*one, place_in(at, *one));
      break;
    case StepKind::route: {
      const int branch = facts_.chosen(at.path).value_or(-1);
      if (branch >= 0 && branch < std::ssize(step.steps))
        add(*step.steps[static_cast<std::size_t>(branch)],
            place_in(at, *step.steps[static_cast<std::size_t>(branch)]));
      break;
    }
    case StepKind::loop:
      for (int index = facts_.chosen(at.path).value_or(-1); index >= 0 && calls.size() == before; --index)
        add(*step.steps.front(), place_of_iteration(at, step, index));
      break;
    case StepKind::map:
      for (int index = 0; index < facts_.chosen(at.path).value_or(0) && calls.size() < most; ++index)
        add_branch(*step.steps.front(), place_of_iteration(at, step, index));
      break;
    case StepKind::wait:
      break;
  }
}

std::vector<std::string> PlanValues::results_of(const PlanStep& step, const PlanPlace& at) const {
  std::vector<std::string> calls;
  add_results(step, at, std::numeric_limits<std::size_t>::max(), calls);
  return calls;
}

base::Result<void> PlanValues::check_results(const PlanStep& step, const PlanPlace& at) {
  begin_call();
  for (const std::string& call : results_of(step, at)) {
    if (!goes_on()) break;
    child(call);
  }
  if (problem_) return base::fail(*std::exchange(problem_, std::nullopt));
  return {};
}

std::shared_ptr<PlanSources::Child> PlanValues::child(const std::string& call) {
  return sources_.child(call, [this](const std::string& name) {
    auto task = read_child_(name);
    if (!task) note_unread(name, task.error());
    return task;
  });
}

// A child that is not there has no values. One that is there has some, and they must not count as empty.
void PlanValues::note_unread(const std::string& call, const base::Error& error) {
  const bool is_gone = error.code == ErrorCode::not_found || error.code == ErrorCode::task_not_found;
  if (is_gone || problem_) return;
  const StepAt found = find_at(plan_, parse_call(call).path);
  if (found.step == nullptr) return;
  problem_ = base::Error{
      error.code,
      "the result of step " + label_of(*found.step, found.place) + " cannot be read: " + error.for_caller,
      error.for_log};
}

// The first child that can be read.
std::shared_ptr<PlanSources::Child> PlanValues::first_child(const PlanStep& step, const PlanPlace& at) {
  std::vector<std::string> calls;
  add_results(step, at, 1, calls);
  if (calls.empty()) return nullptr;
  if (auto first = child(calls.front())) return first;
  for (const std::string& call : results_of(step, at)) {
    if (!goes_on()) break;
    if (auto one = child(call)) return one;
  }
  return nullptr;
}

// Whether the step's result at this place is final.
bool PlanValues::is_final(const PlanStep& step, const PlanPlace& at) const {
  if (facts_.settled(at.path) != nullptr) return true;
  switch (step.kind) {
    case StepKind::agent:
    case StepKind::ask: {
      const auto* attempts = facts_.attempts(at.path);
      return attempts != nullptr && !attempts->open && attempts->end.failure.empty();
    }
    case StepKind::sequence:
      return is_final(*step.steps.back(), place_in(at, *step.steps.back()));
    default:
      return false;
  }
}

// The value of the text that `make` returns. If it is final, it is made once and kept.
template <class Make>
PlanValue PlanValues::kept(const std::string& name, bool is_final, Make&& make) {
  const std::string key = facts_.undoing() ? name + "!" : name;
  if (!is_final) {
    std::string text = make();
    filled_ += text.size();
    return parsed_value(std::move(text));
  }
  const auto known = sources_.made().find(key);
  if (known != sources_.made().end()) return known->second;
  std::string text = make();
  if (!goes_on()) return {};
  sources_.note_bytes(2 * text.size());
  return sources_.made()[key] = parsed_value(std::move(text));
}

std::optional<std::pair<const PlanStep*, int>> PlanValues::innermost(StepKind kind,
                                                                     const PlanPlace& from) const {
  const auto found = std::find_if(from.iterations.rbegin(), from.iterations.rend(),
                                  [&](const auto& one) { return one.first->kind == kind; });
  return found == from.iterations.rend() ? std::nullopt : std::optional(*found);
}

const PlanStep* PlanValues::find(std::string_view id) {
  if (steps_.empty())
    for_each_step(plan_.root, [this](const PlanStep& step) { steps_.emplace(step.id, &step); });
  const auto found = steps_.find(id);
  return found == steps_.end() ? nullptr : found->second;
}

PlanValue PlanValues::value(const std::string& pointer, const PlanPlace& from) {
  const std::string_view all(pointer);
  if (begins_with(all, "/message")) {
    const std::string_view rest = all.substr(8);
    if (rest == "/text") return sources_.message_text();
    if (begins_with(rest, "/data")) return value_within(sources_.message_data(), rest.substr(5));
    if (begins_with(rest, "/metadata")) return value_within(sources_.message_metadata(), rest.substr(9));
    const bool is_list = begins_with(rest, "/files") || begins_with(rest, "/parts");
    if (!is_list) return {};
    const std::string list(all.substr(0, all.size() - rest.size() + 6));
    return value_within(files_value(list, list, true, from), rest.substr(6));
  }
  if (begins_with(all, "/item") || all == "/index") {
    const auto map = innermost(StepKind::map, from);
    if (!map) return {};
    if (all == "/index") return number_value(map->second);
    const auto& items = items_of(*map->first, place_among(*map->first, from.iterations));
    const auto index = static_cast<std::size_t>(map->second);
    if (index >= items.values.size()) return {};
    return value_within({items.values[index], items.list.owner}, all.substr(5));
  }
  if (all == "/iteration") {
    const auto loop = innermost(StepKind::loop, from);
    return loop ? number_value(loop->second) : PlanValue();
  }
  return all.starts_with("/steps/") ? step_value(all.substr(7), from) : PlanValue();
}

// `rest`: the pointer after "/steps/".
PlanValue PlanValues::step_value(std::string_view rest, const PlanPlace& from) {
  const std::string_view id = rest.substr(0, rest.find('/'));
  const PlanStep* step = find(id);
  if (step == nullptr) return {};
  const std::string_view what = rest.substr(id.size());
  const PlanPlace at = place_of(*step, from);
  if (what == "/state" || what == "/error") {
    // A later attempt sees how the last one has ended.
    const PlanPlace now = place_among(*step, from.iterations);
    const auto* own = now.path == from.path ? facts_.attempts(now.path) : nullptr;
    const PlanPlace& told = own != nullptr && !own->open ? now : at;
    return string_value(what == "/state" ? state_of(*step, told) : error_of(*step, told));
  }
  if (begins_with(what, "/results")) return value_within(results(*step, at), what.substr(8));
  if (what == "/text") return text_value(*step, at);
  if (begins_with(what, "/files") || begins_with(what, "/parts")) {
    const std::string list = std::string("/steps/").append(id).append(what.substr(0, 6));
    return value_within(files_value(list, at.path + " " + list, is_final(*step, at), from), what.substr(6));
  }
  if (what != "/task" && !begins_with(what, "/data")) return {};
  const auto first = first_child(*step, at);
  if (first == nullptr) return {};
  return what == "/task" ? string_value(first->task().id.value) : value_within(first->data(), what.substr(5));
}

// The files that `list` names, as values; missing if there are none. `name` and `is_final`: see kept.
PlanValue PlanValues::files_value(const std::string& list, const std::string& name, bool is_final,
                                  const PlanPlace& from) {
  return kept(name, is_final, [&] {
    const std::vector<task::Part> files = all_files(list, from);
    // The files were copied whole, although the value has none of their bytes.
    if (!is_final) filled_ += size_of(files);
    return files.empty() ? std::string() : facts_of(files);
  });
}

PlanValue PlanValues::text_value(const PlanStep& step, const PlanPlace& at) {
  return kept(at.path + " text", is_final(step, at), [&] {
    std::string text;
    bool has_text = false;
    for (const std::string& call : results_of(step, at)) {
      if (!goes_on()) break;
      const auto one = child(call);
      if (one == nullptr) continue;
      if (has_text) text += "\n\n";
      text += one->text();
      has_text = true;
      if (text.size() > limits_.fill_max) charge(text.size());
    }
    return has_text ? json::string_of(text) : std::string();
  });
}

// The results of a map or parallel: one for each item or branch, in their order.
PlanValue PlanValues::results(const PlanStep& step, const PlanPlace& at) {
  return kept(at.path + " results", is_final(step, at), [&] {
    std::string list;
    json::Writer out(list);
    const auto write = [&](const PlanStep& inner, const PlanPlace& place) {
      if (!goes_on()) return;
      const bool has_lost = facts_.has_lost(place.path);
      out.object([&] {
        out.member("state", has_lost ? "canceled" : state_of(inner, place));
        out.optional("error", error_of(inner, place));
        const auto one = has_lost ? nullptr : first_child(inner, place);
        if (one == nullptr) return;
        out.member("text", one->text());
        if (!one->data().value.missing()) out.key("data").raw(one->data().value.raw());
      });
      if (list.size() > limits_.fill_max) charge(list.size());
    };
    out.array([&] {
      if (step.kind == StepKind::map) {
        for (int index = 0; index < facts_.chosen(at.path).value_or(0) && goes_on(); ++index)
          write(*step.steps.front(), place_of_iteration(at, step, index));
      } else if (step.kind == StepKind::parallel) {
        for (const auto& one : step.steps) write(*one, place_in(at, *one));
      } else {
        write(step, at);
      }
    });
    return list;
  });
}

PlanSources::Items PlanValues::read_items(const PlanStep& map, const PlanPlace& at) {
  PlanSources::Items items;
  items.list = parsed_value(map.over.text);
  if (items.list.value.is_string()) {
    const std::string pointer = items.list.value.str();
    if (names_files(pointer)) {
      items.parts = all_files(pointer, at);
      items.list = parsed_value(facts_of(items.parts));
    } else {
      items.list = value(pointer, at);
      // Models give their lists as text.
      if (items.list.value.is_string() && pointer.ends_with("/text")) {
        PlanValue read = parsed_value(items.list.value.str());
        if (read.value.is_array()) items.list = std::move(read);
      }
      if (!items.list.value.is_array())
        items.problem =
            "its items must be a list, but " + pointer + " is " + what_was_found(items.list.value);
    }
  } else if (!items.list.value.is_array()) {
    items.problem = "its items must be a list, but \"over\" is " + what_was_found(items.list.value);
  } else if (map.over.text.find("{{") != std::string::npos) {
    std::string filled;
    json::Writer out(filled);
    fill_value(out, items.list.value, at);
    if (goes_on()) sources_.note_bytes(filled.size());
    items.list = parsed_value(std::move(filled));
  }
  if (items.problem.empty()) {
    for (const Value one : items.list.value) items.values.push_back(one);
  }
  return items;
}

const PlanSources::Items& PlanValues::items_of(const PlanStep& map, const PlanPlace& at) {
  const auto known = sources_.items().find(at.path);
  if (known != sources_.items().end()) return known->second;
  PlanSources::Items items = read_items(map, at);
  // A call that had to end early has not read the whole list.
  if (!goes_on()) return part_read_ = std::move(items);
  sources_.note_bytes(items.values.size() * sizeof(Value) + size_of(items.parts));
  return sources_.items()[at.path] = std::move(items);
}

base::Result<int> PlanValues::count_items(const PlanStep& map, const PlanPlace& at) {
  begin_call();
  const auto& items = items_of(map, at);
  if (!items.problem.empty() && !problem_)
    problem_ = base::Error{ErrorCode::invalid_argument, items.problem, {}};
  return outcome(static_cast<int>(items.values.size()));
}

void PlanValues::fill_text(std::string& filled, std::string_view text, const PlanPlace& from) {
  std::size_t at = 0;
  for (std::size_t mark = text.find("{{"); mark != std::string_view::npos; mark = text.find("{{", at)) {
    const std::size_t end = text.find("}}", mark);
    if (end == std::string_view::npos || !goes_on()) break;
    filled.append(text, at, mark - at);
    const PlanValue found = value(pointer_between(text.substr(mark + 2, end - mark - 2)), from);
    const std::string_view words = found.value.is_string() ? found.value.string() : found.value.raw();
    if (!charge(words.size())) return;
    filled += words;
    at = end + 2;
  }
  filled.append(text, at, std::string_view::npos);
}

base::Result<std::string> PlanValues::fill(const std::string& text, const PlanPlace& from) {
  begin_call();
  std::string filled;
  fill_text(filled, text, from);
  charge(text.size());
  return outcome(std::move(filled));
}

// A string that is one {{pointer}} becomes the value itself.
void PlanValues::fill_value(json::Writer& out, Value from, const PlanPlace& place) {
  if (from.is_string()) {
    const std::string_view whole = from.string();
    if (is_one_pointer(whole)) {
      const PlanValue found = value(pointer_between(whole.substr(2, whole.size() - 4)), place);
      if (found.value.missing() || !charge(found.value.raw().size())) {
        out.null();
      } else {
        out.raw(found.value.raw());
      }
      return;
    }
    std::string text;
    fill_text(text, whole, place);
    out.string(text);
  } else if (from.is_array()) {
    out.array([&] {
      for (const Value one : from) {
        if (goes_on()) fill_value(out, one, place);
      }
    });
  } else if (from.is_object()) {
    out.object([&] {
      for (const Value one : from) {
        if (goes_on()) fill_value(out.key(one.key()), one, place);
      }
    });
  } else {
    out.raw(from.raw());
  }
}

// All files that a pointer to a list of files names.
std::vector<task::Part> PlanValues::all_files(const std::string& pointer, const PlanPlace& from) {
  if (pointer == "/message/files") return without_text(sources_.message().parts);
  if (pointer == "/message/parts") return sources_.message().parts;
  if (!pointer.starts_with("/steps/")) return {};
  const std::string_view id = std::string_view(pointer).substr(7, pointer.find('/', 7) - 7);
  const PlanStep* step = find(id);
  if (step == nullptr) return {};
  std::vector<task::Part> all;
  std::size_t size = 0;
  for (const std::string& call : results_of(*step, place_of(*step, from))) {
    if (!goes_on()) break;
    const auto one = child(call);
    if (one == nullptr) continue;
    if (pointer.ends_with("/parts")) all.push_back(task::Part::of_text(one->text()));
    for (task::Part& part : files_of_result(one->task())) all.push_back(std::move(part));
    size = size_of(all);
    if (size > limits_.fill_max) charge(size);
  }
  return all;
}

std::vector<task::Part> PlanValues::files(const std::string& pointer, const PlanPlace& from) {
  std::vector<task::Part> chosen;
  if (pointer == "/item") {
    const auto map = innermost(StepKind::map, from);
    if (!map) return {};
    const auto& items = items_of(*map->first, place_among(*map->first, from.iterations));
    const auto index = static_cast<std::size_t>(map->second);
    if (index < items.parts.size()) chosen.push_back(items.parts[index]);
  } else if (names_files(pointer)) {
    chosen = all_files(pointer, from);
  } else {
    // One file of a list.
    const std::size_t mark = pointer.rfind('/');
    const std::string list = pointer.substr(0, mark);
    std::size_t index = 0;
    const char* const end = pointer.data() + pointer.size();
    if (!names_files(list) || std::from_chars(pointer.data() + mark + 1, end, index).ptr != end) return {};
    std::vector<task::Part> all = all_files(list, from);
    filled_ += size_of(all);
    if (index < all.size()) chosen.push_back(std::move(all[index]));
  }
  charge(size_of(chosen));
  return chosen;
}

base::Result<std::vector<task::Part>> PlanValues::parts_of(const task::Json& input, const PlanPlace& from) {
  begin_call();
  const auto document = json::Document::view_of(input.text);
  const Value root = document.root();
  std::vector<task::Part> parts;
  const auto add_text = [&](Value text) {
    std::string filled;
    fill_text(filled, text.string(), from);
    parts.push_back(task::Part::of_text(std::move(filled)));
  };
  charge(input.text.size());
  if (root.missing()) {
    parts = sources_.message().parts;
    charge(size_of(parts));
  } else if (root.is_string()) {
    add_text(root);
  } else {
    if (!root["text"].absent()) add_text(root["text"]);
    if (!root["data"].missing()) {
      std::string data;
      json::Writer out(data);
      fill_value(out, root["data"], from);
      parts.push_back(task::Part::of_data({std::move(data)}));
    }
    for (const Value pointer : root["files"]) {
      if (!goes_on()) break;
      for (task::Part& part : files(pointer.str(), from)) parts.push_back(std::move(part));
    }
    if (parts.empty()) parts.push_back(task::Part::of_text(""));
  }
  return outcome(std::move(parts));
}

// --- conditions ---

PlanValue PlanValues::compared_with(const Condition& condition, const PlanPlace& from) {
  const bool is_filled = condition.with.text.find("{{") != std::string::npos;
  const auto known = compared_.find(&condition);
  const PlanValue& written =
      known != compared_.end() ? known->second : compared_[&condition] = parsed_value(condition.with.text);
  if (!is_filled) return written;
  std::string text;
  json::Writer out(text);
  fill_value(out, written.value, from);
  return parsed_value(std::move(text));
}

bool PlanValues::compare(const Condition& condition, const PlanPlace& from) {
  const PlanValue found = value(condition.pointer, from), compared = compared_with(condition, from);
  const Value is = found.value, with = compared.value;
  const auto is_with = [&](Value element) { return same(element, with); };
  const auto cannot = [&] {
    if (!problem_ && !stopped_)
      problem_ = base::Error{
          ErrorCode::invalid_argument,
          condition.pointer + " is " + shown(is) + ", which cannot be compared with " + shown(with),
          {}};
    return false;
  };
  switch (condition.test) {
    case Test::equals:
      return same(is, with);
    case Test::differs:
      return !same(is, with);
    case Test::greater:
    case Test::less: {
      const auto order = order_of(is, with);
      if (order == std::partial_ordering::unordered) return cannot();
      return condition.test == Test::greater ? order > 0 : order < 0;
    }
    case Test::contains:
      if (is.is_array()) return among(is, is_with);
      if (is.absent()) return false;
      if (!is.is_string() || !(with.is_string() || with.is_number())) return cannot();
      return base::contains(is.string(), with.is_string() ? with.string() : with.raw());
    case Test::one_of:
      return with.is_array() ? among(with, [&](Value element) { return same(is, element); }) : cannot();
    default:
      return is.absent() != with.boolean();
  }
}

bool PlanValues::is_true(const Condition& condition, const PlanPlace& from) {
  const auto holds = [&](const Condition& part) { return goes_on() && is_true(part, from); };
  if (condition.test == Test::all) return std::ranges::all_of(condition.parts, holds);
  if (condition.test == Test::any) return std::ranges::any_of(condition.parts, holds);
  if (condition.test == Test::none) return std::ranges::none_of(condition.parts, holds);
  return compare(condition, from);
}

base::Result<bool> PlanValues::holds(const Condition& condition, const PlanPlace& from) {
  begin_call();
  return outcome(is_true(condition, from));
}

}  // namespace baton::agents
