#include "agents/plan/plan_run.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "agents/plan/plan_failures.h"
#include "base/text.h"
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

// A turn with this many records continues in another one. Nothing else bounds how many routes and waits a
// turn decides, because they need no child.
constexpr std::size_t kRecordsMax = 10'000;
constexpr std::size_t kNotUndoneMax = 20;  // named in a failure

std::string not_undone(const std::string& label, const std::string& reason) {
  return "step " + label + " could not be undone: " + reason;
}

}  // namespace

// The states of the branches of a parallel or a map.
struct PlanRun::Branches {
  int all = 0, done = 0, failed = 0, running = 0, pending = 0;
  int need_least = 0, need_all = 0;  // of those that run
  bool simple = true;                // each of these needs one stop
  PlanEnd first_failure;
  std::vector<int> done_ones = {};  // by index

  // How many must be done; not for best_effort.
  int wanted(const Join& join) const {
    if (join.rule == Join::Rule::n_of) return join.need;
    return join.rule == Join::Rule::any ? std::min(1, all) : all;
  }
  // Whether the others do not matter any more.
  bool is_decided(const Join& join) const {
    if (join.rule == Join::Rule::best_effort) return done + failed == all;
    return done >= wanted(join) || all - failed < wanted(join);
  }
};

PlanRun::PlanRun(const Plan& plan, PlanFacts& facts, World world)
    : plan_(plan),
      facts_(facts),
      world_(std::move(world)),
      values_(plan, facts, world_.sources, world_.read_child,
              {world_.limits.fill_max, [this] { return !is_left(); }}) {}

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
  // The child may have ended some time ago, and by the clock of another node: the time is kept within the
  // attempt.
  base::Timestamp ended = world_.now;
  if (result.task) ended = std::clamp(result.task->status.at, std::min(attempts->begun, ended), ended);
  // A step that got no child because the task is being canceled has not failed, and has nothing to undo.
  const bool is_called_off = world_.canceled && !facts_.undoing() && !result.task && !result.error.empty() &&
                             !is_undoing_below(plan_.root.id, call.path);
  record({What::end, call.path, call.attempt, ended, is_called_off ? "canceled" : kind_of(result),
          is_called_off ? kNotNeeded : result.error, result.tokens, result.children});
  return true;
}

bool PlanRun::is_left() {
  if (!step_.is_left && !is_wanted_always_ && world_.limits.is_wanted && !world_.limits.is_wanted())
    step_.is_left = true;
  return step_.is_left;
}

// Whether the walk is to be left, for any reason.
bool PlanRun::unwinds() {
  return is_left() || step_.end.has_value() || refused_.has_value();
}

// Whether the walk has reached its limit, so that further steps begin in the next turn.
bool PlanRun::is_put_off() {
  const bool is_full = values_.filled() >= world_.limits.fill_max || step_.records.size() >= kRecordsMax;
  if (!is_full || step_.records.empty()) return false;
  wake_at(world_.now);
  return true;
}

// Whether the step at `path` is in a compensation of the step at `around` or of a step in that.
bool PlanRun::is_undoing_below(const std::string& around, const std::string& path) const {
  const PlanStep* const last = find_at(plan_, around).step;
  const PlanStep* one = find_at(plan_, path).step;
  for (; one != nullptr && one != last && one->parent != nullptr; one = one->parent) {
    if (one->parent->compensation.get() == one) return true;
  }
  return false;
}

void PlanRun::cancel_below(const std::string& path, bool spares_undoing) {
  std::vector<std::string> open = facts_.open_below(path);
  if (spares_undoing && plan_.undoes)
    std::erase_if(open, [&](const std::string& one) { return is_undoing_below(path, one); });
  // Children that this walk was about to begin are not begun.
  std::unordered_set<std::string> calls;
  for (const std::string& one : open) calls.insert(name_of_call(one, facts_.attempts(one)->number));
  std::unordered_set<std::string> unbegun;
  std::erase_if(step_.begins, [&](const DelegateRequest& begin) {
    return calls.contains(begin.id) && unbegun.insert(begin.id).second;
  });
  for (const std::string& one : open) {
    const int number = facts_.attempts(one)->number;
    record({What::end, one, number, world_.now, "canceled", kNotNeeded});
    std::string call = name_of_call(one, number);
    if (unbegun.contains(call)) continue;
    record({What::cancel, one, number});
    step_.cancels.push_back(std::move(call));
  }
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
  if (!excess.empty() && !facts_.undoing()) give_up({"budget", std::move(excess)});
  if (!facts_.undoing() && !step_.end) go_forward();
  if (facts_.undoing() && !unwinds()) {
    const Standing now = undo();
    step_.need = now.need;
    if (now.state != State::running && !step_.end) step_.end = now.end;
  }
  return std::move(step_);
}

void PlanRun::go_forward() {
  Standing now = walk(plan_.root, root());
  Standing losers;
  if (!unwinds() && now.state != State::failed) losers = undo_losers();
  if (refused_) return give_up(std::move(*std::exchange(refused_, std::nullopt)));
  if (unwinds()) return;
  step_.need = now.need;
  if (now.state == State::failed) return give_up(std::move(now.end));
  if (losers.state == State::running && facts_.unstopped() > 0) step_.need = 1;
  if (now.state == State::running || losers.state == State::running) return;
  if (!plan_.output.empty()) {
    auto output = values_.parts_of(plan_.output, root());
    if (is_left()) return;
    if (!output)
      return give_up({"failed", "the plan's output cannot be built: " + output.error().for_caller});
    step_.output = std::move(*output);
  } else {
    const auto whole = values_.check_results(plan_.root, root());
    if (is_left()) return;
    if (!whole) return give_up({"failed", "the plan's answer cannot be built: " + whole.error().for_caller});
  }
  step_.end.emplace();
}

// Starts undoing the completed steps. If the plan has no compensations, the end of a budget ends the run
// at once.
void PlanRun::give_up(PlanEnd end) {
  if (end.failure == "budget" && !plan_.undoes) {
    step_.begins.clear();
    cancel_below(plan_.root.id);
    step_.end = std::move(end);
    return;
  }
  cancel_below(plan_.root.id, true);
  record({What::undo,
          {},
          0,
          world_.now,
          std::move(end.failure),
          std::move(end.text),
          world_.taken.tokens,
          world_.taken.children});
}

// The budget of undoing. Reduces `taken` to the part used by undoing.
task::Budget PlanRun::budget_of_undoing(task::Taken& taken) const {
  const task::Taken& before = facts_.taken_before_undoing();
  taken.tokens = std::max<std::int64_t>(taken.tokens - before.tokens, 0);
  taken.children = std::max<std::int64_t>(taken.children - before.children, 0);
  task::Budget budget = world_.budget;
  budget.until = end_of_undoing();
  budget.wall.reset();
  return budget;
}

std::optional<base::Timestamp> PlanRun::end_of_undoing() const {
  const bool is_over_budget = facts_.undoing()->failure == "budget";
  if (!is_over_budget && !world_.budget.until) return std::nullopt;
  const base::Timestamp from = facts_.undone_from();
  return (is_over_budget ? from : std::max(from, *world_.budget.until)) + world_.undo_grace;
}

bool PlanRun::is_undoing_late() const {
  const std::optional<base::Timestamp> until = end_of_undoing();
  return until && world_.now >= *until;
}

// Undoes the completed steps, the last one first. Steps that cannot be undone are reported.
PlanRun::Standing PlanRun::undo() {
  const bool is_late = is_undoing_late();
  if (is_late) {
    cancel_below(plan_.root.id);
  } else if (const auto until = end_of_undoing()) {
    wake_at(*until);
  }
  // Wait for the canceled children: they may still complete, and a plan among them undoes its own steps
  // first.
  if (!facts_.canceled().empty() && !is_late)
    return {State::running, static_cast<int>(facts_.canceled().size()), {}};
  settle_unnoticed();
  if (is_left()) return {};
  PlanEnd end = *facts_.undoing();
  std::vector<std::string> sentences;
  std::vector<std::string> done = to_undo();
  // The undoing of lost branches has begun already, so their steps come first.
  if (facts_.has_losers())
    std::ranges::stable_partition(
        done, [this](const std::string& one) { return !facts_.lost_around(one).empty(); });
  // Failed steps that undo themselves may have begun to, too. Such a step may also be done, if its cancel
  // came too late.
  if (const auto own = undoing_themselves(); !own.empty()) {
    const std::unordered_set<std::string> known(own.begin(), own.end());
    std::erase_if(done, [&](const std::string& one) { return known.contains(one); });
    done.insert(done.begin(), own.begin(), own.end());
  }
  for (const std::string& path : done) {
    if (is_left()) return {};
    const StepAt found = find_at(plan_, path);
    if (found.step == nullptr || !found.step->compensation) continue;
    const PlanStep& compensation = *found.step->compensation;
    const PlanPlace place = place_in(found.place, compensation);
    const auto* attempts = facts_.attempts(place.path);
    const bool is_begun = attempts != nullptr || facts_.settled(place.path) != nullptr;
    Standing now = is_late && !is_begun ? Standing{State::running, 0, {}} : walk(compensation, place);
    if (is_left()) return {};
    if (now.state == State::running && !is_late) return now;
    if (now.state == State::running) now.end.text = "it ran out of time (engine.undo_grace_s)";
    if (now.state == State::done) continue;
    std::string sentence = not_undone(label_of(*found.step, found.place), now.end.text);
    // The failure of a step that has undone itself may say so already.
    if (!base::contains(end.text, sentence)) sentences.push_back(std::move(sentence));
  }
  // A compensation that needed no child may just have ended a step around it, which then undoes itself.
  if (settle_unnoticed()) return undo();
  if (is_left()) return {};
  for (const std::string& call : facts_.canceled()) {
    const StepAt found = find_at(plan_, parse_call(call).path);
    if (found.step != nullptr && found.step->compensation)
      sentences.push_back(not_undone(label_of(*found.step, found.place), "it did not stop in time"));
  }
  say_not_undone(end, sentences);
  return {State::failed, 0, std::move(end)};
}

void PlanRun::say_not_undone(PlanEnd& end, const std::vector<std::string>& sentences) const {
  for (std::size_t index = 0; index < std::min(sentences.size(), kNotUndoneMax); ++index)
    end.text += (end.text.empty() ? "" : "; ") + sentences[index];
  if (sentences.size() > kNotUndoneMax)
    end.text += "; " + std::to_string(sentences.size() - kNotUndoneMax) + " more steps could not be undone";
}

// Whether anything has happened at the step's place.
bool PlanRun::has_begun(const PlanStep& step, const PlanPlace& at) const {
  if (facts_.attempts(at.path) != nullptr || facts_.settled(at.path) != nullptr || facts_.due(at.path) ||
      facts_.chosen(at.path))
    return true;
  // The first step of these begins first.
  const bool is_plain = step.kind == StepKind::sequence || step.kind == StepKind::parallel;
  return is_plain && has_begun(*step.steps.front(), place_in(at, *step.steps.front()));
}

// Settles the completed or failed steps around others that have a compensation and that no walk has seen to
// end: their last child stopped in the turn in which the run was given up, or completed although it had been
// canceled. Returns whether there were any.
bool PlanRun::settle_unnoticed() {
  bool may_be = false;
  for_each_step(plan_.root,
                [&](const PlanStep& step) { may_be |= step.compensation && !step.steps.empty(); });
  if (!may_be) return false;
  const std::size_t before = step_.records.size();
  std::vector<std::string> ended = facts_.done();
  ended.insert(ended.end(), facts_.failed().begin(), facts_.failed().end());
  std::unordered_set<std::string> known;
  only_looks_ = true;
  for (const std::string& path : ended) {
    // The steps around it, the innermost one first.
    for (auto end = path.rfind('/'); end != std::string::npos; end = path.rfind('/', end - 1)) {
      std::string around = path.substr(0, end);
      if (around.back() == ']') around.resize(around.rfind('['));
      if (!known.insert(around).second) break;
      const StepAt found = find_at(plan_, around);
      if (found.step != nullptr && found.step->compensation && !found.step->steps.empty())
        walk(*found.step, found.place);
    }
  }
  only_looks_ = false;
  return step_.records.size() > before;
}

// The paths of the completed steps that have a compensation, the last one first. A compensation and its parts
// are not undone.
std::vector<std::string> PlanRun::to_undo() const {
  std::vector<std::string> paths;
  if (!plan_.undoes) return paths;
  for (auto path = facts_.done().rbegin(); path != facts_.done().rend(); ++path) {
    const StepAt found = find_at(plan_, *path);
    const bool is_undone = found.step != nullptr && found.step->compensation;
    if (is_undone && !is_undoing_below(plan_.root.id, *path)) paths.push_back(*path);
  }
  return paths;
}

// Whether the step at `path`, which is no part of a compensation, has failed and is not tried again.
bool PlanRun::has_failed(const PlanStep& step, const std::string& path) const {
  if (is_undoing_below(plan_.root.id, path)) return false;
  if (const PlanEnd* end = facts_.settled(path)) return !end->failure.empty();
  const auto* last = facts_.attempts(path);
  const bool has_ended = last != nullptr && !last->open && !last->called_off;
  return has_ended && !last->end.failure.empty() && !is_tried_again(step, *last);
}

// The paths of the failed steps that undo themselves (OnFailure::compensate), the last one first. A step's
// compensation may not have begun yet: the walk that begins it may still have to wait, or the run may have
// been given up in the turn in which the step failed.
std::vector<std::string> PlanRun::undoing_themselves() const {
  std::vector<std::string> paths;
  if (!plan_.undoes) return paths;
  std::unordered_set<std::string> known;
  for (auto path = facts_.failed().rbegin(); path != facts_.failed().rend(); ++path) {
    const StepAt found = find_at(plan_, *path);
    if (found.step == nullptr || found.step->on_failure != OnFailure::compensate) continue;
    const PlanStep& compensation = *found.step->compensation;
    const bool undoes =
        has_begun(compensation, place_in(found.place, compensation)) || has_failed(*found.step, *path);
    if (undoes && known.insert(*path).second) paths.push_back(*path);
  }
  return paths;
}

// Undoes the completed steps of each lost branch, the last one first, once all of the branch has stopped.
// Continues the compensations of failed steps, which the walk may not reach any more.
PlanRun::Standing PlanRun::undo_losers() {
  Standing all{State::done, 0, {}};
  if (facts_.has_losers()) settle_unnoticed();
  const std::vector<std::string> own = undoing_themselves();
  if (!facts_.has_losers() && own.empty()) return all;
  std::unordered_set<std::string> busy;
  for (const std::string& call : facts_.canceled()) {
    if (std::string branch = facts_.lost_around(parse_call(call).path); !branch.empty())
      busy.insert(std::move(branch));
  }
  step_.not_undone.clear();
  const auto undo_at = [&](const std::string& path, const std::string& branch) {
    const StepAt found = find_at(plan_, path);
    if (found.step == nullptr || !found.step->compensation) return;
    const PlanStep& compensation = *found.step->compensation;
    const Standing now = walk(compensation, place_in(found.place, compensation));
    if (now.state == State::running) busy.insert(branch);
    if (now.state == State::failed && !branch.empty())
      step_.not_undone.push_back(not_undone(label_of(*found.step, found.place), now.end.text));
  };
  for (const std::string& path : own) {
    if (!unwinds()) undo_at(path, facts_.lost_around(path));
  }
  const std::unordered_set<std::string> known(own.begin(), own.end());
  for (const std::string& path : to_undo()) {
    if (unwinds()) break;
    const std::string branch = facts_.lost_around(path);
    if (branch.empty() || busy.contains(branch) || known.contains(path)) continue;
    undo_at(path, branch);
  }
  if (!busy.empty()) all.state = State::running;
  if (busy.empty() && !unwinds() && facts_.has_losers() && settle_unnoticed()) return undo_losers();
  return all;
}

PlanRun::Standing PlanRun::walk(const PlanStep& step, const PlanPlace& at) {
  if (unwinds()) return {};
  Standing now;
  if (const PlanEnd* end = facts_.settled(at.path)) {
    now = {end->failure.empty() ? State::done : State::failed, 0, *end};
  } else {
    now = walk_kind(step, at);
    if (unwinds()) return {};
    const bool is_leaf = step.steps.empty();
    // A failed route may be one whose conditions could not be compared: that is not tried again.
    const bool is_decided = step.kind == StepKind::parallel || step.kind == StepKind::map ||
                            step.kind == StepKind::loop ||
                            (step.kind == StepKind::route && now.state == State::failed);
    const bool is_kept = step.compensation || (is_decided && !only_looks_);
    if (!is_leaf && is_kept && now.state != State::running)
      record({What::settle, at.path, 0, {}, now.end.failure, now.end.text});
  }
  if (now.state != State::failed) return now;
  if (step.on_failure == OnFailure::goes_on) return {State::done, 0, {}};
  if (step.on_failure == OnFailure::compensate && (only_looks_ || !facts_.undoing())) {
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
  if (only_looks_ && (last == nullptr || last->open || last->called_off || is_tried_again(step, *last)))
    return {};
  if (last == nullptr) return begin(step, at, 1);
  const int number = last->number;
  if (last->open && step.timeout.count() > 0) {
    const base::Timestamp end = last->begun + step.timeout;
    if (world_.now >= end) {
      record({What::cancel, at.path, number});
      step_.cancels.push_back(name_of_call(at.path, number));
      record({What::end, at.path, number, world_.now, "timeout", timeout_words(step.timeout)});
      last = facts_.attempts(at.path);
    } else {
      wake_at(end);
    }
  }
  if (last->open) return {State::running, 1, {}};
  if (last->end.failure.empty()) return {State::done, 0, {}};
  if (!is_tried_again(step, *last)) return {State::failed, 0, named_failure(step, at, last->end)};
  const base::Timestamp next = last->ended + delay_before(step.retry, number + 1);
  if (world_.now >= next) return begin(step, at, number + 1);
  wake_at(next);
  return {};
}

// Why the budget refuses a further child; empty if it does not.
std::string PlanRun::refusal_of_begin() const {
  task::Taken taken = world_.taken;
  taken.children += std::ssize(step_.begins);
  if (!facts_.undoing()) return task::refusal_of_child(world_.budget, taken);
  const task::Budget budget = budget_of_undoing(taken);
  return task::refusal_of_child(budget, taken);
}

PlanRun::Standing PlanRun::begin(const PlanStep& step, const PlanPlace& at, int attempt) {
  // The run ends in this turn, and a child that began now would be canceled at once.
  if (facts_.undoing() && is_undoing_late()) return {};
  if (auto refusal = refusal_of_begin(); !refusal.empty()) {
    if (facts_.undoing()) return {State::failed, 0, named_failure(step, at, {"budget", std::move(refusal)})};
    refused_ = PlanEnd{"budget", std::move(refusal)};
    return {};
  }
  if (is_put_off()) return {};
  auto request = request_for(step, at, attempt);
  if (is_left()) return {};
  if (!request) {
    const PlanEnd end{request.error().code == base::ErrorCode::not_found ? "unavailable" : kBadInput,
                      request.error().for_caller};
    // Recorded even if no agent was found: a reload of the cards may bring one after the plan has continued.
    record({What::begin, at.path, attempt, world_.now});
    record({What::end, at.path, attempt, world_.now, end.failure, end.text});
    return walk_agent(step, at);
  }
  record({What::begin, at.path, attempt, world_.now});
  step_.begins.push_back(std::move(*request));
  if (step.timeout.count() > 0) wake_at(world_.now + step.timeout);
  return {State::running, 1, {}};
}

base::Result<DelegateRequest> PlanRun::request_for(const PlanStep& step, const PlanPlace& at, int attempt) {
  DelegateRequest request;
  request.id = name_of_call(at.path, attempt);
  request.label = label_of(step, at);
  request.shows_replies = step.shows_replies && !facts_.undoing();
  request.agent = step.agent;
  request.undoes = plan_.undoes && is_undoing_below(plan_.root.id, at.path);
  if (step.kind == StepKind::ask) {
    request.agent = step.for_auth ? kAskAuthAgent : kAskAgent;
    auto question = values_.fill(step.question, at);
    if (!question) return base::fail(std::move(question.error()));
    request.message.parts.push_back(task::Part::of_text(std::move(*question)));
  } else {
    auto parts = values_.parts_of(step.input, at);
    if (!parts) return base::fail(std::move(parts.error()));
    request.message.parts = std::move(*parts);
  }
  if (facts_.undoing()) {
    task::Taken taken = world_.taken;
    taken.children += std::ssize(step_.begins);
    const task::Budget budget = budget_of_undoing(taken);
    ++taken.children;
    request.budget = task::left_for_child(budget, taken);
  }
  if (request.agent.empty()) {
    const auto chosen = world_.choose(step.skill, step.tag);
    const std::string what = step.skill.empty() ? "tag \"" + step.tag : "skill \"" + step.skill;
    if (!chosen) return base::fail(base::ErrorCode::not_found, "no agent has the " + what + "\"");
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
  is_wanted_always_ = true;
  const std::set<std::string> open = facts_.open();
  for (const std::string& path : open) {
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
  is_wanted_always_ = false;
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
      if (only_looks_ || is_put_off()) return {};
      const auto count = values_.count_items(step, at);
      if (is_left()) return {};
      if (!count)
        return failed("failed", "step " + label_of(step, at) + " failed: " + count.error().for_caller);
      if (*count > step.most)
        return failed("failed", "step " + label_of(step, at) + " has " + std::to_string(*count) +
                                    " items, but may have at most " + std::to_string(step.most));
      record({What::choose, at.path, *count});
    }
    branches.all = *facts_.chosen(at.path);
  }
  const int most = step.concurrency > 0 ? step.concurrency : branches.all;
  for (int index = 0; index < branches.all; ++index) {
    const bool is_map = step.kind == StepKind::map;
    const PlanStep& one = *step.steps[is_map ? 0 : static_cast<std::size_t>(index)];
    const PlanPlace place = is_map ? place_of_iteration(at, step, index) : place_in(at, one);
    // Branches begin in their order, so none after this one has begun.
    const bool is_needless = branches.is_decided(step.join) && !has_begun(one, place);
    if (branches.running >= most || is_needless) {
      branches.pending = branches.all - index;
      break;
    }
    const Standing now = walk(one, place);
    if (unwinds()) return {};
    if (now.state == State::done) {
      ++branches.done;
      branches.done_ones.push_back(index);
    }
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
  const int wanted = branches.wanted(step.join);
  const bool best = step.join.rule == Rule::best_effort;
  const bool is_done = best ? branches.done > 0 || branches.all == 0 : branches.done >= wanted;
  if (branches.is_decided(step.join)) {
    if (!only_looks_) {
      if (is_done && (step.join.rule == Rule::any || step.join.rule == Rule::n_of))
        lose_rest(step, at, branches, wanted);
      cancel_below(at.path, true);
    }
    if (is_done) return {State::done, 0, {}};
    if (branches.all < wanted)
      return failed("failed", "step " + label_of(step, at) + " has fewer branches than must succeed");
    return {State::failed, 0, branches.first_failure};
  }
  Standing now{State::running, branches.need_least, {}};
  const bool waits_for_all = (step.join.rule == Rule::all || best) && branches.pending == 0;
  if (branches.simple && waits_for_all) now.need = branches.need_all;
  if (branches.simple && step.join.rule == Rule::n_of && branches.pending == 0)
    now.need = std::min(branches.need_all, wanted - branches.done);
  return now;
}

// The first `wanted` completed branches have won. Records that the other branches that have begun have lost,
// if the step has anything to undo.
void PlanRun::lose_rest(const PlanStep& step, const PlanPlace& at, const Branches& branches, int wanted) {
  if (!has_compensation(step)) return;
  const auto winners_end =
      branches.done_ones.begin() + std::min<std::ptrdiff_t>(wanted, std::ssize(branches.done_ones));
  for (int index = 0; index < branches.all - branches.pending; ++index) {
    if (std::binary_search(branches.done_ones.begin(), winners_end, index)) continue;
    const bool is_map = step.kind == StepKind::map;
    const PlanStep& one = *step.steps[is_map ? 0 : static_cast<std::size_t>(index)];
    if (!has_compensation(one)) continue;
    record({What::lose, (is_map ? place_of_iteration(at, step, index) : place_in(at, one)).path});
  }
}

PlanRun::Standing PlanRun::walk_route(const PlanStep& step, const PlanPlace& at) {
  if (!facts_.chosen(at.path)) {
    if (only_looks_ || is_put_off()) return {};
    int chosen = -1;
    for (std::size_t index = 0; index < step.whens.size() && chosen < 0; ++index) {
      const auto holds = values_.holds(step.whens[index], at);
      if (is_left()) return {};
      if (!holds)
        return failed("failed", "step " + label_of(step, at) + " failed: " + holds.error().for_caller);
      if (*holds) chosen = static_cast<int>(index);
    }
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
    if (only_looks_ && index < 0) return {};
    if (index >= 0) {
      const Standing now = walk(*step.steps.front(), place_of_iteration(at, step, index));
      if (now.state != State::done) return now;
    }
    // The condition reads the results of this iteration. Before the first one there are none, and the
    // iteration's number is 0.
    PlanPlace from = at;
    from.iterations.emplace_back(&step, std::max(index, 0));
    if (!only_looks_ && is_put_off()) return {};
    bool may_go_on = index < 0 && step.until;
    if (!may_go_on) {
      const auto holds = values_.holds(step.condition, from);
      if (is_left()) return {};
      if (!holds)
        return failed("failed", "step " + label_of(step, at) + " failed: " + holds.error().for_caller);
      may_go_on = *holds != step.until;
    }
    if (!may_go_on || index + 1 >= step.most) return {State::done, 0, {}};
    if (only_looks_) return {};
    record({What::choose, at.path, index + 1});
  }
}

PlanRun::Standing PlanRun::walk_wait(const PlanStep& step, const PlanPlace& at) {
  const auto* attempts = facts_.attempts(at.path);
  if (attempts != nullptr && !attempts->open) {
    if (attempts->end.failure.empty()) return {State::done, 0, {}};
    return {State::failed, 0, attempts->end};
  }
  if (only_looks_) return {};
  if (!facts_.due(at.path)) {
    if (is_put_off()) return {};
    const auto time = json::Document::view_of(step.time.text);
    base::Timestamp due = world_.now;
    if (time.root().is_string()) {
      const auto text = values_.fill(time.root().str(), at);
      if (is_left()) return {};
      const auto moment = text ? base::parse_rfc3339(*text) : std::nullopt;
      if (!moment) {
        std::string reason =
            "step " + label_of(step, at) +
            (text ? " cannot wait until \"" + std::string(base::beginning_of(*text, 100)) + "\""
                  : " failed: " + text.error().for_caller);
        record({What::end, at.path, 1, world_.now, "failed", reason});
        return failed("failed", std::move(reason));
      }
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
