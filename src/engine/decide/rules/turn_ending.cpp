#include "engine/decide/rules/turn_ending.h"

#include "agents/plan/plan.h"
#include "base/id.h"
#include "base/text.h"
#include "engine/decide/rules/child_questions.h"

namespace baton::engine {
namespace {

using task::State;
using task::StatusChanged;

StatusChanged status_of(State state, std::optional<task::Message> message, base::Timestamp now) {
  if (message) {
    message->role = task::Role::agent;
    if (message->id.empty()) message->id.value = base::make_uuid();
  }
  return StatusChanged{{state, std::move(message), now}, {}};
}

StatusChanged status_after(const agents::Outcome& outcome, const TurnEnding& ending) {
  const base::Timestamp now = ending.now;
  if (const auto* done = std::get_if<agents::Done>(&outcome))
    return status_of(State::completed, done->message, now);
  // After a cancel request, any other outcome only means that the agent has stopped.
  const auto* canceled = std::get_if<agents::Canceled>(&outcome);
  if (ending.cancel_requested || canceled) {
    const bool says = ending.cancel_reason.empty() && canceled;
    return status_with_text(State::canceled, says ? canceled->text : ending.cancel_reason, now);
  }
  if (const auto* asked = std::get_if<agents::Asked>(&outcome)) {
    StatusChanged status =
        status_of(asked->for_auth ? State::auth_required : State::input_required, asked->message, now);
    status.ask = asked->id;
    return status;
  }
  if (const auto* rejected = std::get_if<agents::Rejected>(&outcome)) {
    return status_with_text(State::rejected, rejected->reason, now);
  }
  return status_with_text(State::failed, std::get<agents::Failed>(outcome).error, now);
}

// Puts the streamed reply in front of the agent's last message, for clients that look only there.
void repeat_reply(task::Status& status, const std::vector<task::Part>& reply) {
  const bool has_said = status.state == State::completed || task::is_waiting(status.state);
  if (reply.empty() || !has_said) return;
  if (!status.message) status = status_of(status.state, task::Message{}, status.at).status;
  status.message->parts.insert(status.message->parts.begin(), reply.begin(), reply.end());
  status.reply_parts = static_cast<int>(reply.size());
}

// The turn completed or asks, but its caller has already sent another message: the task continues with that
// one.
void continue_with_next(task::Change& change, const task::TaskHead& head, StatusChanged status,
                        const TurnEnding& ending) {
  if (status.status.state == State::completed) {
    if (status.status.message)
      change.events.push_back(
          task::MessageAdded{*status.status.message, task::Leaving::goes_on, status.status.reply_parts});
  } else {
    change.events.push_back(std::move(status));
  }
  change.events.push_back(StatusChanged{{State::submitted, std::nullopt, ending.now}, {}});
  // A message sent before the question was asked does not answer it.
  change.turn->ask.emplace();
  change.turn->state = task::TurnState::queued;
  change.turn->turn = task::TurnNumber{head.turn.value + 1};
  change.turn->attempt = 0;
  change.turn->message = *ending.next_message;
  change.turn->waiting_messages = ending.waiting_messages - 1;
}

// Makes the turn wait. The next turn continues its work.
void wait(task::Change& change, const task::TaskHead& head, const agents::Waits& waits) {
  change.turn.emplace();
  change.turn->waits = waits;
  change.turn->state = task::TurnState::waiting;
  change.turn->turn = task::TurnNumber{head.turn.value + 1};
  change.turn->attempt = 0;
}

}  // namespace

bool may_undo_steps(const agents::Agent& agent, const task::TaskHead& head) {
  const agents::Plan* const plan = agent.settings.plan.get();
  return plan != nullptr && (plan->undoes || head.created < agent.read_at);
}

bool has_turn_on_cancel(const agents::Agent& agent, const task::TaskHead& head) {
  return agent.settings.ends_work_elsewhere || may_undo_steps(agent, head);
}

bool undoes_first(const agents::Agent* agent, const task::TaskHead& head) {
  const bool has_begun = head.turn.value > 1 || head.attempt > 0;
  return has_begun && agent != nullptr && has_turn_on_cancel(*agent, head);
}

void begin_undoing(task::Change& change, const task::TaskHead& head, base::Timestamp now) {
  change.task = head.key;
  change.expected = head.version;
  if (task::is_waiting(head.state)) withdraw_question(change, now);
  if (!change.turn) change.turn.emplace();
  change.turn->cancel_requested = true;
  change.turn->state = task::TurnState::queued;
  if (head.turn_state != task::TurnState::none) return;
  change.turn->turn = task::TurnNumber{head.turn.value + 1};
  change.turn->attempt = 0;
}

bool runs_on(const agents::Outcome& outcome) {
  return std::holds_alternative<agents::BrokenOff>(outcome) || std::holds_alternative<agents::Waits>(outcome);
}

void run_again(task::Change& change, const task::TaskHead& head, std::vector<task::ArtifactId> shown,
               bool counts) {
  if (!shown.empty()) change.events.push_back(task::Withdrawn{std::move(shown)});
  change.turn.emplace();
  change.turn->state = task::TurnState::waiting;
  change.turn->attempt = counts ? head.attempt : head.attempt - 1;
}

StatusChanged status_with_text(State state, const std::string& text, base::Timestamp now) {
  if (text.empty()) return status_of(state, std::nullopt, now);
  task::Message message;
  // A reason may be the words of another server. A text that is not UTF-8 would make the log unreadable.
  message.parts.push_back(task::Part::of_text(base::replaced_utf8(text)));
  return status_of(state, std::move(message), now);
}

void add_ending(task::Change& change, const task::TaskHead& head, const agents::Outcome& outcome,
                const TurnEnding& ending) {
  if (runs_on(outcome) && !ending.cancel_requested) {
    const auto* waits = std::get_if<agents::Waits>(&outcome);
    if (waits) return wait(change, head, *waits);
    return run_again(change, head, ending.shown, std::get<agents::BrokenOff>(outcome).counts);
  }
  StatusChanged status = status_after(outcome, ending);
  repeat_reply(status.status, ending.reply);
  const State state = status.status.state;
  change.turn.emplace();
  change.turn->state = task::TurnState::none;
  const auto* asked = std::get_if<agents::Asked>(&outcome);
  change.turn->ask = task::is_waiting(state) && asked ? asked->id : std::string();

  const bool may_go_on = !ending.cancel_requested && (state == State::completed || task::is_waiting(state));
  if (may_go_on && ending.next_message) {
    continue_with_next(change, head, std::move(status), ending);
  } else {
    change.events.push_back(std::move(status));
    if (task::is_terminal(state)) change.turn->waiting_messages = 0;
  }
}

}  // namespace baton::engine
