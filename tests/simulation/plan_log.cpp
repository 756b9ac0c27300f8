#include "plan_log.h"

#include <algorithm>
#include <utility>

#include "agents/plan/plan_failures.h"
#include "agents/plan/plan_place.h"
#include "marks.h"

namespace baton::simulation {
namespace {

using agents::PlanRecord;
using What = PlanRecord::What;
using SubagentPhase = task::Subagent::Phase;

// The failure of a turn whose output the store has refused for good.
constexpr std::string_view kNotStored = "the agent's output could not be stored";
// The reason why a child is canceled if the store has refused its answer for good.
constexpr std::string_view kNotAnswered = "The answer to its question could not be delivered";

}  // namespace

PlanLog::PlanLog(const Model::Task& task, const agents::Plan& plan) : plan_(plan) {
  for (const Model::Event& event : task.log) add(event);
  const auto* last = task.log.empty() ? nullptr : std::get_if<task::StatusChanged>(&task.log.back().body);
  const bool says = last != nullptr && last->status.message;
  unstored_ = says && task::text_of(*last->status.message) == kNotStored;
}

void PlanLog::check_undone(bool whole) {
  if (!undone_from_) return;
  const auto& expected = *undone_from_;
  bool is_right = undone_.size() <= expected.size() && (!whole || undone_.size() == expected.size());
  for (std::size_t at = 0; is_right && at < undone_.size(); ++at) is_right = undone_[at] == expected[at];
  if (!is_right) say("what was done was not undone in reverse order, once each");
}

void PlanLog::check_losers_undone() {
  for (const std::string& path : facts_.done()) {
    const auto found = agents::find_at(plan_, path);
    if (facts_.lost_around(path).empty() || found.step == nullptr || !found.step->compensation) continue;
    SOMETIMES(plan_undid_a_loser);
    const auto* undoing = facts_.attempts(path + "/" + found.step->compensation->id);
    if (undoing == nullptr || undoing->open) say(path + " has lost and was not undone");
  }
}

void PlanLog::say(const std::string& what) {
  if (wrong_.empty()) wrong_ = what;
}

void PlanLog::add(const Model::Event& event) {
  // The turn that was running when the cancel came may finish what it is doing.
  if (event.before.cancel_requested && !canceled_in_) canceled_in_ = event.before.turn;
  if (const auto* state = std::get_if<task::ExecutorState>(&event.body)) {
    const bool is_late = canceled_in_ && event.before.turn > *canceled_in_;
    for (const PlanRecord& record : agents::read_records(state->state)) add(record, is_late);
    for (const std::string& call : state->taken) take(call);
  }
  if (const auto* child = std::get_if<task::Subagent>(&event.body)) add(*child);
  const auto* message = std::get_if<task::MessageAdded>(&event.body);
  if (message != nullptr && message->for_child) answers_[asker_] = task::text_of(message->message);
}

void PlanLog::add(const PlanRecord& record, bool is_late) {
  const std::string call = agents::name_of_call(record.path, record.number);
  switch (record.what) {
    case What::began:
      if (!facts_.plan().empty() || record.text != plan_.text) say("the plan began twice");
      break;
    case What::begin:
      begin(record, call, is_late);
      break;
    case What::end:
      if (!ended_.insert(call).second) say(call + " ended twice");
      if (!begun_.contains(call) && !facts_.due(record.path)) say(call + " ended and was not begun");
      refused_ = refused_ || record.failure == "unavailable" || record.text == kNotStored ||
                 record.text.find(kNotAnswered) != std::string::npos;
      note_end(record);
      break;
    case What::choose:
      check_choice(record);
      break;
    case What::due:
      if (facts_.due(record.path)) say(record.path + " waits twice");
      break;
    case What::settle:
      if (facts_.settled(record.path) != nullptr) say(record.path + " was settled twice");
      break;
    case What::undo:
      if (undone_from_) say("the plan failed twice");
      undone_from_ = to_undo();
      break;
    case What::cancel:
      if (!begun_.contains(call) || !canceled_.insert(call).second) say(call + " was canceled twice");
      SOMETIMES(plan_canceled_a_child);
      break;
    case What::lose:
      if (facts_.has_lost(record.path)) say(record.path + " has lost twice");
      break;
    case What::gone:
      if (!canceled_.contains(call) || !gone_.insert(call).second) say(call + " was gone twice");
      break;
  }
  facts_.add(record);
  // A canceled step may still complete. Undoing begins when all canceled steps have stopped.
  if (record.what == What::gone && undone_from_ && undone_.empty()) undone_from_ = to_undo();
}

void PlanLog::begin(const PlanRecord& record, const std::string& call, bool is_late) {
  const auto* before = facts_.attempts(record.path);
  if (!begun_.insert(call).second) say(call + " was begun twice");
  if (record.number != (before == nullptr ? 1 : before->number + 1)) say(call + " was begun out of turn");
  if (before != nullptr && (before->open || before->end.failure.empty()))
    say(call + " was begun before the last attempt had failed");
  if (record.number > 1) SOMETIMES(plan_step_retried);
  if (is_late && !is_compensation(record.path)) say(call + " was begun after the plan was canceled");
  if (!undone_from_ || record.number > 1) return;
  if (!facts_.open().empty() && !facts_.has_losers())
    say(call + " was begun before what came after it was undone");
  undone_.push_back(record.path);
}

void PlanLog::note_end(const PlanRecord& record) {
  if (record.failure == "timeout") SOMETIMES(plan_step_timed_out);
  if (facts_.due(record.path)) SOMETIMES(plan_waited_for_a_time);
  if (undone_from_ && is_compensation(record.path)) SOMETIMES(plan_undid_a_step);
}

void PlanLog::check_choice(const PlanRecord& record) {
  const auto before = facts_.chosen(record.path);
  const auto found = agents::find_at(plan_, record.path);
  const bool is_loop = found.step != nullptr && found.step->kind == agents::PlanStep::Kind::loop;
  if (is_loop && record.number != before.value_or(-1) + 1) say(record.path + " has left out an iteration");
  if (!is_loop && before) say(record.path + " has chosen twice");
}

bool PlanLog::undoes_itself(const std::string& path) const {
  const auto found = agents::find_at(plan_, path);
  const auto* last = facts_.attempts(path);
  if (found.step == nullptr || found.step->on_failure != agents::PlanStep::OnFailure::compensate)
    return false;
  return last != nullptr && !last->open && !last->called_off && !last->end.failure.empty() &&
         !agents::is_tried_again(*found.step, *last);
}

std::vector<std::string> PlanLog::to_undo() const {
  std::vector<std::string> paths;
  std::vector<std::string> done(facts_.done().rbegin(), facts_.done().rend());
  // Steps that have lost, and so were being undone already, come first.
  std::ranges::stable_partition(done, [&](const auto& path) { return !facts_.lost_around(path).empty(); });
  // Steps that undo themselves, and that failed in the turn in which the plan was given up, come before them.
  std::vector<std::string> failed(facts_.failed().rbegin(), facts_.failed().rend());
  std::erase_if(failed, [&](const auto& path) { return !undoes_itself(path); });
  done.insert(done.begin(), failed.begin(), failed.end());
  for (const std::string& path : done) {
    const auto found = agents::find_at(plan_, path);
    if (found.step == nullptr || !found.step->compensation) continue;
    std::string undoing = path + "/" + found.step->compensation->id;
    if (std::ranges::count(paths, undoing) == 0 && facts_.attempts(undoing) == nullptr)
      paths.push_back(std::move(undoing));
  }
  return paths;
}

void PlanLog::add(const task::Subagent& event) {
  if (event.phase == SubagentPhase::started) {
    if (!begun_.contains(event.call)) say(event.call + " has a child and was not begun");
    if (!children_.try_emplace(event.id, Child{event.call, event.task, false, {}}).second ||
        !calls_.insert(event.call).second) {
      say(event.call + " has two children");
    }
    return;
  }
  const auto found = children_.find(event.id);
  if (found == children_.end()) return say("a child that was not begun is told of");
  if (event.phase == SubagentPhase::passed) asker_ = agents::parse_call(found->second.call).path;
  if (event.phase != SubagentPhase::finished && event.phase != SubagentPhase::failed) return;
  if (std::exchange(found->second.ended, true)) say(found->second.call + " has two ends");
  found->second.end = event;
  stopped_.insert(found->second.call);
}

void PlanLog::take(const std::string& call) {
  if (!stopped_.contains(call)) say(call + " was taken in before it had stopped");
  if (!taken_.insert(call).second) say(call + " was taken in twice");
  const auto ended = std::ranges::find(children_, call, [](const auto& one) { return one.second.call; });
  const auto* attempts = facts_.attempts(agents::parse_call(call).path);
  if (ended == children_.end() || attempts == nullptr || canceled_.contains(call)) return;
  const bool is_done = ended->second.end.phase == SubagentPhase::finished;
  if (attempts->number == agents::parse_call(call).attempt && !attempts->open &&
      attempts->end.failure.empty() != is_done) {
    say(call + " ended otherwise than its child");
  }
}

}  // namespace baton::simulation
