#include "agents/workflow/plan_run.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "agents/workflow/plan_failures.h"
#include "json/writer.h"
#include "protocol/a2a/baton_extension.h"

namespace baton::agents {
namespace {

using StepKind = PlanStep::Kind;
using OnFailure = PlanStep::OnFailure;
using What = PlanRecord::What;
using std::chrono::milliseconds;

milliseconds delay_before(const Retry& retry, int attempt) {
  const double factor = std::pow(retry.factor, attempt - 2);
  const double ms = static_cast<double>(retry.delay.count()) * factor;
  return milliseconds(std::llround(std::min(ms, static_cast<double>(retry.delay_max.count()))));
}

std::string kind_of(const DelegateResult& result) {
  if (result.error.empty()) return {};
  if (!result.task) return "unavailable";
  return std::string(task::name_of(result.task->status.state));
}

bool stands_below(const std::string& path, const std::string& around) {
  return path.starts_with(around) &&
         (path.size() == around.size() || path[around.size()] == '/' || path[around.size()] == '[');
}

}  // namespace

// What the branches of a parallel or a map have come to so far.
struct PlanRun::Branches {
  int all = 0, done = 0, failed = 0, running = 0, pending = 0;
  int need_least = 0, need_all = 0;  // of those that run
  bool simple = true;                // each of these needs one stop
  PlanEnd first_failure;
};

void PlanRun::record(PlanRecord record) {
  facts_.add(record);
  step_.records.push_back(std::move(record));
}

void PlanRun::wake_at(base::Timestamp time) {
  if (!step_.until || time < *step_.until) step_.until = time;
}

bool PlanRun::take(const DelegateResult& result) {
  const PlanCall call = parse_call(result.id);
  const auto* attempts = facts_.attempts(call.path);
  if (attempts == nullptr || !attempts->open || attempts->number != call.attempt) {
    const bool is_done = result.task && result.error.empty();
    record({What::gone, call.path, call.attempt, {}, {}, is_done ? kDoneLate : ""});
    return false;
  }
  record({What::end, call.path, call.attempt, world_.now, kind_of(result), result.error, result.tokens,
          result.children});
  return true;
}

void PlanRun::cancel_below(const std::string& path) {
  for (const std::string& open : facts_.open()) {
    if (!stands_below(open, path)) continue;
    const int number = facts_.attempts(open)->number;
    record({What::end, open, number, world_.now, "canceled", "it was not needed any more"});
    cancel(name_of_call(open, number));
  }
}

void PlanRun::cancel(const std::string& call) {
  if (std::erase_if(step_.begins, [&](const DelegateRequest& begin) { return begin.id == call; }) > 0) return;
  const PlanCall parsed = parse_call(call);
  record({What::cancel, parsed.path, parsed.attempt});
  step_.cancels.push_back(call);
}

PlanRun::Step PlanRun::advance() {
  if (facts_.plan().empty()) record({What::began, {}, 0, world_.now, {}, plan_.text});
  // A child that is begun again may be there: it can be canceled only once the log has it.
  if (!step_.begins.empty()) {
    step_.until = world_.now;
    return std::move(step_);
  }
  if (world_.canceled && !facts_.undoing()) give_up({"canceled", {}});
  // The end of the budget's time wakes the task by itself.
  std::string excess = task::excess(world_.budget, world_.taken, world_.now);
  if (!excess.empty() && !facts_.undoing()) stop({"budget", std::move(excess)});
  if (step_.end) return std::move(step_);
  if (!facts_.undoing()) {
    const Standing now = walk(plan_.root, root());
    if (step_.end) return std::move(step_);
    step_.need = now.need;
    if (now.state == State::done) step_.end.emplace();
    if (now.state == State::failed) give_up(now.end);
  }
  if (facts_.undoing()) {
    const Standing now = undo();
    step_.need = now.need;
    if (now.state != State::running && !step_.end) step_.end = now.end;
  }
  return std::move(step_);
}

// From here on, what is done is undone.
void PlanRun::give_up(PlanEnd end) {
  cancel_below(plan_.root.id);
  record({What::undo, {}, 0, {}, std::move(end.failure), std::move(end.text)});
}

// Undoes what is done, the last first. What cannot be undone is said.
PlanRun::Standing PlanRun::undo() {
  // What was canceled may be done all the same, and a plan below undoes its own steps first.
  if (facts_.canceled() > 0) return {State::running, facts_.canceled(), {}};
  PlanEnd end = *facts_.undoing();
  const std::vector<std::string> done = facts_.done();
  for (auto path = done.rbegin(); path != done.rend(); ++path) {
    const StepAt found = find_at(plan_, *path);
    if (found.step == nullptr || !found.step->compensation) continue;
    const PlanStep& compensation = *found.step->compensation;
    const Standing now = walk(compensation, place_in(found.place, compensation));
    if (now.state == State::running) return now;
    if (now.state == State::failed)
      end.text += (end.text.empty() ? "step " : "; step ") + label_of(*found.step, found.place) +
                  " could not be undone: " + now.end.text;
  }
  return {State::failed, 0, std::move(end)};
}

void PlanRun::stop(PlanEnd end) {
  step_.begins.clear();
  cancel_below(plan_.root.id);
  step_.end = std::move(end);
}

PlanRun::Standing PlanRun::walk(const PlanStep& step, const PlanPlace& at) {
  if (step_.end) return {};
  Standing now;
  if (const PlanEnd* end = facts_.settled(at.path)) {
    now = {end->failure.empty() ? State::done : State::failed, 0, *end};
  } else {
    now = walk_kind(step, at);
    const bool is_leaf = step.steps.empty();
    const bool is_kept = step.compensation || step.kind == StepKind::parallel || step.kind == StepKind::map ||
                         step.kind == StepKind::loop;
    if (!is_leaf && is_kept && now.state != State::running)
      record({What::settle, at.path, 0, {}, now.end.failure, now.end.text});
  }
  if (now.state != State::failed) return now;
  if (step.on_failure == OnFailure::goes_on) return {State::done, 0, {}};
  if (step.on_failure == OnFailure::compensate && !facts_.undoing()) {
    const Standing undone = walk(*step.compensation, place_in(at, *step.compensation));
    if (undone.state == State::running) return undone;
    if (undone.state == State::failed)
      now.end.text += "; step " + label_of(step, at) + " could not be undone: " + undone.end.text;
  }
  return now;
}

PlanRun::Standing PlanRun::walk_kind(const PlanStep& step, const PlanPlace& at) {
  switch (step.kind) {
    case StepKind::agent:
    case StepKind::ask:
      return walk_agent(step, at);
    case StepKind::sequence:
      return walk_sequence(step, at);
    case StepKind::parallel:
    case StepKind::map:
      return walk_branches(step, at);
    case StepKind::route:
      return walk_route(step, at);
    case StepKind::loop:
      return walk_loop(step, at);
    case StepKind::wait:
      return walk_wait(step, at);
  }
  return {};
}

PlanRun::Standing PlanRun::walk_agent(const PlanStep& step, const PlanPlace& at) {
  const auto* last = facts_.attempts(at.path);
  if (last == nullptr) return begin(step, at, 1);
  const int number = last->number;
  if (last->open && step.timeout.count() > 0) {
    const base::Timestamp end = last->begun + step.timeout;
    if (world_.now >= end) {
      cancel(name_of_call(at.path, number));
      record({What::end, at.path, number, world_.now, "timeout", timeout_words(step.timeout)});
      last = facts_.attempts(at.path);
    } else {
      wake_at(end);
    }
  }
  if (last->open) return {State::running, 1, {}};
  if (last->end.failure.empty()) return {State::done, 0, {}};
  const bool may_retry = step.retry.on.empty() || std::ranges::count(step.retry.on, last->end.failure) > 0;
  if (!may_retry || number > step.retry.count || last->end.failure == "canceled")
    return {State::failed, 0, named_failure(step, at, last->end)};
  const base::Timestamp next = last->ended + delay_before(step.retry, number + 1);
  if (world_.now >= next) return begin(step, at, number + 1);
  wake_at(next);
  return {};
}

PlanRun::Standing PlanRun::begin(const PlanStep& step, const PlanPlace& at, int attempt) {
  task::Taken taken = world_.taken;
  taken.children += std::ssize(step_.begins);
  // What is undone goes on with what can be: the engine refuses the rest.
  auto refusal = facts_.undoing() ? std::string() : task::refusal_of_child(world_.budget, taken);
  if (!refusal.empty()) {
    stop({"budget", std::move(refusal)});
    return {};
  }
  auto request = request_for(step, at, attempt);
  if (!request)
    return {State::failed, 0, named_failure(step, at, {"unavailable", request.error().for_caller})};
  record({What::begin, at.path, attempt, world_.now});
  step_.begins.push_back(std::move(*request));
  if (step.timeout.count() > 0) wake_at(world_.now + step.timeout);
  return {State::running, 1, {}};
}

base::Result<DelegateRequest> PlanRun::request_for(const PlanStep& step, const PlanPlace& at, int attempt) {
  DelegateRequest request;
  request.id = name_of_call(at.path, attempt);
  request.label = label_of(step, at);
  request.agent = step.agent;
  if (step.kind == StepKind::ask) {
    request.agent = step.for_auth ? kAskAuthAgent : kAskAgent;
    request.message.parts.push_back(task::Part::of_text(values_.fill(step.question, at)));
  } else {
    request.message.parts = values_.parts_of(step.input, at);
  }
  if (request.agent.empty()) {
    const auto chosen = world_.choose(step.skill, step.tag);
    const std::string what = step.skill.empty() ? "tag \"" + step.tag : "skill \"" + step.skill;
    if (!chosen) return base::fail(base::ErrorCode::not_found, "there is no agent with the " + what + "\"");
    request.agent = *chosen;
  }
  json::Writer out(request.message.metadata.text);
  out.object([&] {
    out.key(protocol::kBatonExtension).object([&] {
      out.member("step", request.label).member("attempt", attempt);
    });
  });
  return request;
}

void PlanRun::begin_again(const std::function<bool(const std::string& call)>& has_child) {
  for (const std::string& path : facts_.open()) {
    const StepAt found = find_at(plan_, path);
    const int number = facts_.attempts(path)->number;
    if (found.step == nullptr || has_child(name_of_call(path, number))) continue;
    auto request = request_for(*found.step, found.place, number);
    if (request) {
      step_.begins.push_back(std::move(*request));
    } else {
      record({What::end, path, number, world_.now, "unavailable", request.error().for_caller});
    }
  }
}

PlanRun::Standing PlanRun::walk_sequence(const PlanStep& step, const PlanPlace& at) {
  for (const auto& one : step.steps) {
    const Standing now = walk(*one, place_in(at, *one));
    if (now.state != State::done) return now;
  }
  return {State::done, 0, {}};
}

PlanRun::Standing PlanRun::walk_branches(const PlanStep& step, const PlanPlace& at) {
  Branches branches;
  branches.all = static_cast<int>(step.steps.size());
  if (step.kind == StepKind::map) {
    if (!facts_.chosen(at.path)) {
      const int count = values_.count_items(step, at);
      if (count > step.most)
        return failed("failed", "step " + label_of(step, at) + " has " + std::to_string(count) +
                                    " items, and may have " + std::to_string(step.most));
      record({What::choose, at.path, count});
    }
    branches.all = *facts_.chosen(at.path);
  }
  const int most = step.concurrency > 0 ? step.concurrency : branches.all;
  for (int index = 0; index < branches.all; ++index) {
    // Branches begin in their order, so none after this one has begun.
    if (branches.running >= most) {
      branches.pending = branches.all - index;
      break;
    }
    const bool is_map = step.kind == StepKind::map;
    const PlanStep& one = *step.steps[is_map ? 0 : static_cast<std::size_t>(index)];
    const Standing now = walk(one, is_map ? place_of_iteration(at, step, index) : place_in(at, one));
    if (step_.end) return {};
    if (now.state == State::done) ++branches.done;
    if (now.state == State::failed && branches.failed++ == 0) branches.first_failure = now.end;
    if (now.state != State::running) continue;
    ++branches.running;
    branches.need_all += now.need;
    branches.simple = branches.simple && one.steps.empty() && now.need == 1;
    if (now.need > 0 && (branches.need_least == 0 || now.need < branches.need_least))
      branches.need_least = now.need;
  }
  return join(step, at, branches);
}

PlanRun::Standing PlanRun::join(const PlanStep& step, const PlanPlace& at, const Branches& branches) {
  using Rule = Join::Rule;
  int wanted = branches.all;
  if (step.join.rule == Rule::any) wanted = std::min(1, branches.all);
  if (step.join.rule == Rule::n_of) wanted = step.join.need;
  const bool all_over = branches.done + branches.failed == branches.all;
  const bool best = step.join.rule == Rule::best_effort;
  const bool is_done = best ? all_over && (branches.done > 0 || branches.all == 0) : branches.done >= wanted;
  const bool has_failed = best ? all_over && !is_done : !is_done && branches.all - branches.failed < wanted;
  if (is_done || has_failed) {
    cancel_below(at.path);
    if (is_done) return {State::done, 0, {}};
    if (branches.all < wanted)
      return failed("failed", "step " + label_of(step, at) + " has fewer branches than must be done");
    return {State::failed, 0, branches.first_failure};
  }
  Standing now{State::running, branches.need_least, {}};
  const bool waits_for_all = (step.join.rule == Rule::all || best) && branches.pending == 0;
  if (branches.simple && waits_for_all) now.need = branches.need_all;
  if (branches.simple && step.join.rule == Rule::n_of && branches.pending == 0)
    now.need = std::min(branches.need_all, wanted - branches.done);
  return now;
}

PlanRun::Standing PlanRun::walk_route(const PlanStep& step, const PlanPlace& at) {
  if (!facts_.chosen(at.path)) {
    const auto matches = [&](const Condition& when) { return values_.holds(when, at); };
    const auto found = std::ranges::find_if(step.whens, matches);
    const auto chosen = found == step.whens.end() ? -1 : static_cast<int>(found - step.whens.begin());
    record({What::choose, at.path, chosen});
  }
  const int branch = *facts_.chosen(at.path);
  if (branch < 0 || branch >= std::ssize(step.steps)) return {State::done, 0, {}};
  const PlanStep& one = *step.steps[static_cast<std::size_t>(branch)];
  return walk(one, place_in(at, one));
}

PlanRun::Standing PlanRun::walk_loop(const PlanStep& step, const PlanPlace& at) {
  while (true) {
    const int index = facts_.chosen(at.path).value_or(-1);
    PlanPlace from = at;
    if (index >= 0) {
      const PlanPlace body = place_of_iteration(at, step, index);
      const Standing now = walk(*step.steps.front(), body);
      if (now.state != State::done) return now;
      from.iterations = body.iterations;  // the loop reads what this round has said
    }
    const bool may_go_on = index < 0 && step.until ? true : values_.holds(step.condition, from) != step.until;
    if (!may_go_on || index + 1 >= step.most) return {State::done, 0, {}};
    record({What::choose, at.path, index + 1});
  }
}

PlanRun::Standing PlanRun::walk_wait(const PlanStep& step, const PlanPlace& at) {
  const auto* attempts = facts_.attempts(at.path);
  if (attempts != nullptr && !attempts->open) {
    if (attempts->end.failure.empty()) return {State::done, 0, {}};
    return {State::failed, 0, attempts->end};
  }
  if (!facts_.due(at.path)) {
    const auto time = json::Document::view_of(step.time.text);
    base::Timestamp due = world_.now;
    if (time.root().is_string()) {
      const std::string text = values_.fill(time.root().str(), at);
      const auto moment = base::parse_rfc3339(text);
      if (!moment)
        return failed("failed", "step " + label_of(step, at) + " cannot wait until \"" + text + "\"");
      due = *moment;
    } else {
      due += milliseconds(std::llround(time.root().real().value_or(0) * 1000));
    }
    record({What::due, at.path, 0, due});
  }
  const base::Timestamp due = *facts_.due(at.path);
  if (world_.now >= due) {
    record({What::end, at.path, 1, world_.now});
    return {State::done, 0, {}};
  }
  wake_at(due);
  return {};
}

}  // namespace baton::agents
