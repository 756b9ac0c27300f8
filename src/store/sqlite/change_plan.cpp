#include "store/sqlite/change_plan.h"

#include <utility>

#include "store/sqlite/event_rows.h"
#include "task/fold.h"

namespace baton::store::sqlite {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

// Of the places in a log, the last are kept for decisions: what an agent says may not fill it, or its task
// could never end.
constexpr std::int64_t kRoomForDecisions = 1 << 16;

// Follows the events of one change, one overload for each kind that means something to the head or to an
// index table.
class Planner {
 public:
  Planner(const HeadRow& before, const Change& change, base::Timestamp now, const FindArtifact& find_artifact)
      : may_reopen_(change.reopen && task::is_terminal(before.head.state)),
        created_(change.create.has_value()),
        now_(now),
        find_artifact_(find_artifact) {
    plan_.row = before;
    if (created_) plan_.row.head.status_at = now;
  }

  Result<void> add(task::EventBody& body) {
    TaskHead& head = plan_.row.head;
    if (task::is_terminal(head.state) && !may_reopen_) return fail(ErrorCode::conflict, "the task has ended");
    ++head.last_event.value;
    plan_.events.emplace_back();
    if (auto planned = std::visit([this](auto& event) { return plan(event); }, body); !planned)
      return planned;
    if (const task::Message* message = task::message_in(body)) say(message->role);
    return {};
  }

  // A reopening that opened nothing.
  bool left_closed() const { return may_reopen_ && task::is_terminal(plan_.row.head.state); }

  ChangePlan& plan() { return plan_; }

 private:
  Result<void> plan(task::StatusChanged& event) {
    TaskHead& head = plan_.row.head;
    const task::State to = event.status.state;
    if (!may_become(head.state, to)) {
      return fail(ErrorCode::invalid_argument, "a task that is " + std::string(task::name_of(head.state)) +
                                                   " cannot become " + std::string(task::name_of(to)));
    }
    if (task::is_terminal(head.state)) may_reopen_ = false;
    if (event.status.at == base::Timestamp{}) event.status.at = now_;
    head.state = to;
    head.status_at = event.status.at;
    plan_.row.status_event = head.last_event;
    plan_.events.back().stops = task::is_stopped(to);
    plan_.decides = true;
    return {};
  }

  bool may_become(task::State from, task::State to) const {
    if (task::is_terminal(from)) return to == task::State::submitted;
    const bool first = created_ && !plan_.row.status_event;
    return (first && to == task::State::submitted) || task::may_move(from, to);
  }

  Result<void> plan(task::MessageAdded&) {
    plan_.message = plan_.row.head.last_event;
    plan_.decides = true;
    return {};
  }

  // This event is a message of the history.
  void say(task::Role role) {
    plan_.events.back().said = role;
    ++plan_.row.head.message_count;
  }

  Result<void> plan(task::TextDelta& event) {
    auto placed = place(event.reply, event.first);
    if (!placed) return fail(placed.error());
    event.ordinal = placed->ordinal;
    event.first = placed->mark == Mark::begins;
    if (event.first) plan_.events.back().reply_begins = event.ordinal;
    return {};
  }

  Result<void> plan(task::ArtifactChunk& event) {
    auto placed = place(event.artifact.id, !event.append);
    if (!placed) return fail(placed.error());
    event.artifact.ordinal = placed->ordinal;
    event.append = placed->mark == Mark::more;
    return {};
  }

  Result<void> plan(task::Withdrawn& event) {
    for (const task::ArtifactId& id : event.artifacts) {
      KnownArtifact* known = find(id);
      if (known == nullptr || known->withdrawn) continue;
      known->withdrawn = true;
      plan_.events.back().marks.push_back({known->ordinal, Mark::withdrawn});
    }
    return {};
  }

  template <class Other>
  Result<void> plan(Other&) {
    return {};
  }

  // The artifact that this event is a piece of, made if it is new.
  Result<EventPlan::ArtifactMark> place(const task::ArtifactId& id, bool begins) {
    if (id.empty()) return fail(ErrorCode::invalid_argument, "an artifact without an id");
    KnownArtifact* known = find(id);
    if (known == nullptr) {
      known = &plan_.artifacts.try_emplace(id, KnownArtifact{plan_.row.head.artifact_count++, true})
                   .first->second;
      plan_.new_artifacts.push_back(id);
    }
    const bool anew = begins || known->withdrawn;
    known->withdrawn = false;
    plan_.events.back().marks.push_back({known->ordinal, anew ? Mark::begins : Mark::more});
    return plan_.events.back().marks.back();
  }

  KnownArtifact* find(const task::ArtifactId& id) {
    const auto touched = plan_.artifacts.find(id);
    if (touched != plan_.artifacts.end()) return &touched->second;
    const auto stored = find_artifact_(id);
    return stored ? &plan_.artifacts.try_emplace(id, *stored).first->second : nullptr;
  }

  ChangePlan plan_;
  bool may_reopen_;
  const bool created_;
  const base::Timestamp now_;
  const FindArtifact& find_artifact_;
};

Result<void> check_claims(const TaskHead& head, const Change& change) {
  if (change.expected && *change.expected != head.version) {
    return fail(ErrorCode::conflict, "the task has changed meanwhile");
  }
  if (change.fence && (head.turn_state != TurnState::running || *change.fence != head.turn)) {
    return fail(ErrorCode::conflict, "this turn is no longer running");
  }
  return {};
}

Result<void> update_turn(TaskHead& head, const TurnUpdate& update, task::EventNumber message) {
  if (update.message_is_new && !message) {
    return fail(ErrorCode::invalid_argument, "a turn about a new message without a message");
  }
  if (update.turn) head.turn = *update.turn;
  if (update.state) head.turn_state = *update.state;
  if (update.attempt) head.attempt = *update.attempt;
  if (update.message) head.turn_message = *update.message;
  if (update.message_is_new) head.turn_message = message;
  if (update.waiting_messages) head.waiting_messages = *update.waiting_messages;
  if (update.cancel_requested) head.cancel_requested = *update.cancel_requested;
  if (update.ask) head.ask = *update.ask;
  return {};
}

}  // namespace

Result<ChangePlan> plan_change(const HeadRow& before, Change& change, base::Timestamp now,
                               const FindArtifact& find_artifact) {
  if (auto claims = check_claims(before.head, change); !claims) return fail(claims.error());
  Planner planner(before, change, now, find_artifact);
  for (task::EventBody& body : change.events) {
    if (auto added = planner.add(body); !added) return fail(added.error());
  }
  if (planner.left_closed())
    return fail(ErrorCode::invalid_argument, "a reopening without the status submitted");
  ChangePlan& plan = planner.plan();
  if (change.request && !plan.message) {
    return fail(ErrorCode::invalid_argument, "a request without a message");
  }
  if (change.turn) {
    if (auto turn = update_turn(plan.row.head, *change.turn, plan.message); !turn) return fail(turn.error());
  }
  const std::int64_t kept = change.turn ? 0 : kRoomForDecisions;
  if (plan.row.head.last_event.value > kLogEnd.value - kept) {
    return fail(ErrorCode::too_large, "the task's log is full");
  }
  plan.decides = plan.decides || change.turn.has_value() || change.create.has_value();
  if (plan.decides) ++plan.row.head.version.value;
  return std::move(plan);
}

}  // namespace baton::store::sqlite
