#include "task/apply.h"

#include <algorithm>
#include <string>
#include <utility>

#include "task/fold.h"

namespace baton::task {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

// The last places of a log are reserved for decisions: if output filled them, the task could never end.
constexpr std::int64_t kRoomForDecisions = 1 << 16;

// Applies events one after the other. `step` has an overload for each kind of event that affects the head or
// an artifact.
class Steps {
 public:
  Steps(const TaskHead& before, const Change& change, base::Timestamp now, const ArtifactPlaces& artifacts)
      : may_reopen_(change.reopen && may_reopen(before.state)),
        created_(change.create.has_value()),
        now_(now),
        artifacts_(artifacts) {
    applied_.head = before;
    if (created_) applied_.head.created = applied_.head.status_at = now;
  }

  Result<void> add(EventBody& body) {
    TaskHead& head = applied_.head;
    const bool is_after_end = std::holds_alternative<Intervention>(body);
    if (is_terminal(head.state) && !may_reopen_ && !is_after_end)
      return fail(ErrorCode::conflict, "the task has ended");
    ++head.last_event.value;
    if (auto stepped = std::visit([this](auto& event) { return step(event); }, body); !stepped)
      return stepped;
    if (message_in(body) != nullptr) ++head.message_count;
    return {};
  }

  // Whether the change asked to reopen the task but left it ended.
  bool left_closed() const { return may_reopen_ && is_terminal(applied_.head.state); }

  Applied& applied() { return applied_; }

 private:
  Result<void> step(StatusChanged& event) {
    TaskHead& head = applied_.head;
    const State to = event.status.state;
    if (!may_become(head.state, to)) {
      return fail(ErrorCode::invalid_argument, "a task that is " + std::string(name_of(head.state)) +
                                                   " cannot become " + std::string(name_of(to)));
    }
    if (is_terminal(head.state)) may_reopen_ = false;
    if (event.status.at == base::Timestamp{}) event.status.at = now_;
    if (is_terminal(to)) event.status.taken = {head.tokens, head.children};
    head.state = to;
    head.status_at = event.status.at;
    head.status_event = head.last_event;
    applied_.decides = true;
    return {};
  }

  bool may_become(State from, State to) const {
    if (is_terminal(from)) return to == State::submitted;
    const bool first = created_ && !applied_.head.status_event;
    return (first && to == State::submitted) || may_move(from, to);
  }

  Result<void> step(MessageAdded&) {
    applied_.message = applied_.head.last_event;
    applied_.decides = true;
    return {};
  }

  Result<void> step(TextDelta& event) {
    const auto placed = place(event.reply, event.first);
    if (!placed) return fail(placed.error());
    event.ordinal = placed->ordinal;
    event.first = placed->anew;
    return {};
  }

  Result<void> step(ArtifactChunk& event) {
    const auto placed = place(event.artifact.id, !event.append);
    if (!placed) return fail(placed.error());
    event.artifact.ordinal = placed->ordinal;
    event.append = !placed->anew;
    return {};
  }

  Result<void> step(Withdrawn& event) {
    for (const ArtifactId& id : event.artifacts) {
      ArtifactPlace* known = find(id);
      if (known != nullptr) known->withdrawn = true;
    }
    return {};
  }

  Result<void> step(Subagent& event) {
    using Phase = Subagent::Phase;
    int& awaited = applied_.head.awaited;
    applied_.decides = true;
    // A detached child counts as a child, but its usage does not count.
    if (event.phase == Phase::started && event.task) ++applied_.head.children;
    if (event.phase == Phase::passed || event.is_detached) return {};
    if (event.phase == Phase::started || event.phase == Phase::answered) {
      ++awaited;
    } else if (awaited > 0) {
      --awaited;
    }
    applied_.head.children += event.children;
    applied_.head.tokens += event.tokens;
    if (event.phase == Phase::failed) applied_.head.child_failed = true;
    return {};
  }

  Result<void> step(Usage& event) {
    applied_.head.tokens += event.tokens;
    return {};
  }

  Result<void> step(ExecutorState& event) {
    applied_.head.tokens += event.used.tokens;
    applied_.head.children += event.used.children;
    return {};
  }

  template <class Other>
  Result<void> step(Other&) {
    return {};
  }

  struct Piece {
    int ordinal;
    bool anew;  // the artifact begins, or starts over
  };
  // Finds the artifact that an event adds content to, or adds the artifact.
  Result<Piece> place(const ArtifactId& id, bool begins) {
    if (id.empty()) return fail(ErrorCode::invalid_argument, "an artifact must have an id");
    ArtifactPlace* known = find(id);
    if (known == nullptr) {
      known = &applied_.artifacts.try_emplace(id, ArtifactPlace{applied_.head.artifact_count++, true})
                   .first->second;
    }
    const bool anew = begins || known->withdrawn;
    known->withdrawn = false;
    return Piece{known->ordinal, anew};
  }

  ArtifactPlace* find(const ArtifactId& id) {
    const auto touched = applied_.artifacts.find(id);
    if (touched != applied_.artifacts.end()) return &touched->second;
    const auto stored = artifacts_.find(id);
    return stored == artifacts_.end() ? nullptr
                                      : &applied_.artifacts.try_emplace(id, stored->second).first->second;
  }

  Applied applied_;
  bool may_reopen_;
  const bool created_;
  const base::Timestamp now_;
  const ArtifactPlaces& artifacts_;
};

Result<void> check_claims(const TaskHead& head, const Change& change) {
  if (change.expected && *change.expected != head.version) {
    return fail(ErrorCode::conflict, "the task was changed by another request");
  }
  const bool is_running = head.turn_state == TurnState::running;
  if (change.fence &&
      (!is_running || change.fence->turn != head.turn || change.fence->attempt != head.attempt)) {
    return fail(ErrorCode::conflict, "this turn is no longer running");
  }
  return {};
}

// Ends a wait no later than the task's budget. If the budget's time is past, it no longer limits the wait, so
// that a task which has been woken for it is not woken for it again.
Waits within(const Budget* budget, Waits waits, base::Timestamp now) {
  if (budget == nullptr || !budget->until || *budget->until <= now) return waits;
  waits.until = std::min(waits.until.value_or(*budget->until), *budget->until);
  return waits;
}

Result<void> update_turn(TaskHead& head, const TurnUpdate& update, EventNumber message, base::Timestamp now) {
  if (update.message_is_new && !message) {
    return fail(ErrorCode::invalid_argument, "a turn about a new message needs the message");
  }
  if (update.turn) {
    head.turn = *update.turn;
    head.turn_begin = head.last_event;
  }
  if (update.state) head.turn_state = *update.state;
  if (update.budget) head.budget = update.budget;
  if (update.state == TurnState::waiting) head.waits = within(head.budget.get(), update.waits, now);
  if (update.attempt) head.attempt = *update.attempt;
  if (update.message) head.turn_message = *update.message;
  if (update.message_is_new) head.turn_message = message;
  if (update.waiting_messages) head.waiting_messages = *update.waiting_messages;
  if (update.cancel_requested) head.cancel_requested = *update.cancel_requested;
  if (update.ask) head.ask = *update.ask;
  if (update.turn && head.turn_state != TurnState::waiting) head.awaited = 0;
  return {};
}

// Whether the waiting turn continues for any reason other than the time.
bool goes_on(const TaskHead& head) {
  const Waits& waits = head.waits;
  if (waits.on_failure && head.child_failed) return true;
  if (head.awaited == 0 && !waits.until) return true;  // nothing else would ever wake it
  return head.awaited <= waits.open_max;
}

// Whether this change took the task over its token limit.
bool exceeds_tokens(const TaskHead& head, const TaskHead& before) {
  if (!head.budget || !head.budget->tokens) return false;
  return before.tokens <= *head.budget->tokens && head.tokens > *head.budget->tokens;
}

// Queues a waiting turn whose wait is over, or whose task has just gone over its token limit. Clears the
// waits of a turn that is not waiting.
void settle_turn(TaskHead& head, bool is_over_budget) {
  if (head.turn_state == TurnState::none) head.awaited = 0;
  if (head.turn_state == TurnState::waiting && (is_over_budget || goes_on(head)))
    head.turn_state = TurnState::queued;
  if (head.turn_state != TurnState::waiting) head.waits = {};
  if (head.turn_state == TurnState::none || head.turn_state == TurnState::queued) head.child_failed = false;
}

// A task stays hidden until it is shown, or stops in a state other than completed: only a completed task can
// be answered by a message alone.
bool stays_hidden(const TaskHead& head, const Change& change) {
  if (change.create) return head.hidden;
  return head.hidden && !change.shows && (!is_stopped(head.state) || head.state == State::completed);
}

}  // namespace

Result<void> check_subject(const Change& change) {
  if (change.create.has_value() == static_cast<bool>(change.task)) {
    return fail(ErrorCode::invalid_argument, "a change must concern exactly one task, new or existing");
  }
  if (change.create && (change.create->id.empty() || change.create->context.empty())) {
    return fail(ErrorCode::invalid_argument, "a task needs an id and a context");
  }
  return {};
}

TaskHead new_head(const NewTask& task) {
  TaskHead head;
  head.id = task.id;
  head.agent = task.agent;
  head.caller = task.caller;
  head.context = task.context;
  head.parent = task.parent;
  head.detached = task.detached;
  head.budget = task.budget;
  head.origin = task.origin;
  head.hidden = task.hidden;
  return head;
}

void for_each_artifact_named(const Change& change, const std::function<void(const ArtifactId&)>& see) {
  for (const EventBody& body : change.events) {
    if (const auto* piece = std::get_if<TextDelta>(&body)) {
      see(piece->reply);
    } else if (const auto* chunk = std::get_if<ArtifactChunk>(&body)) {
      see(chunk->artifact.id);
    } else if (const auto* withdrawn = std::get_if<Withdrawn>(&body)) {
      for (const ArtifactId& id : withdrawn->artifacts) see(id);
    }
  }
}

Result<Applied> apply(const TaskHead& before, Change& change, base::Timestamp now,
                      const ArtifactPlaces& artifacts) {
  if (auto claims = check_claims(before, change); !claims) return fail(claims.error());
  Steps steps(before, change, now, artifacts);
  for (EventBody& body : change.events) {
    if (auto added = steps.add(body); !added) return fail(added.error());
  }
  if (steps.left_closed())
    return fail(ErrorCode::invalid_argument, "reopening a task needs the status submitted");
  Applied& applied = steps.applied();
  if (change.request && !applied.message) {
    return fail(ErrorCode::invalid_argument, "a request must have a message");
  }
  if (change.turn) {
    if (auto turn = update_turn(applied.head, *change.turn, applied.message, now); !turn)
      return fail(turn.error());
  }
  settle_turn(applied.head, exceeds_tokens(applied.head, before));
  const std::int64_t kept = change.turn ? 0 : kRoomForDecisions;
  if (applied.head.last_event.value > kLogEnd.value - kept) {
    return fail(ErrorCode::too_large, "the task's log is full: send the message to a new task");
  }
  applied.shows = before.hidden && !stays_hidden(applied.head, change);
  applied.head.hidden = before.hidden && !applied.shows;
  applied.decides = applied.decides || change.turn || change.create || change.events.empty();
  if (applied.decides) ++applied.head.version.value;
  return std::move(applied);
}

}  // namespace baton::task
