#include "engine/decide/kinds/turn_output.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/decide/rules/turn_ending.h"

namespace baton::engine {
namespace {

constexpr int kWaitsForNothing = std::numeric_limits<int>::max();

bool is_status(const task::EventBody& body) {
  return std::holds_alternative<task::StatusChanged>(body);
}

}  // namespace

base::Result<task::Change> TurnOutput::decide(const store::TaskRow& now) {
  is_lost = is_over || !is_running(now.head, turn, attempt);
  if (is_lost) return base::fail(base::ErrorCode::conflict, "this turn is no longer running");
  task::Change change = outcome == nullptr ? going(now.head) : ending(now);
  change.task = now.head.key;
  change.fence = {now.head.turn, now.head.attempt};
  return change;
}

task::Change TurnOutput::going(const task::TaskHead& head) {
  task::Change change;
  if (turnover.withdraws) withdraw_question(change, at);
  // The question ends the replies that the caller is shown.
  if (turnover.next) output.close_streams();
  for (task::EventBody& body : output.take()) change.events.push_back(std::move(body));
  change.shows = !output.is_reply_alone();
  const bool goes_on_asking = task::is_waiting(head.state) && !turnover.withdraws;
  if (goes_on_asking) std::erase_if(change.events, is_status);
  if (turnover.next) show_question(change, *turnover.next, at);
  return change;
}

task::Change TurnOutput::ending(const store::TaskRow& now) {
  const auto* waits = std::get_if<agents::Waits>(outcome);
  const bool canceled = cancel_requested || now.head.cancel_requested;
  const bool ends = (canceled && !(undoes && waits != nullptr)) || !runs_on(*outcome);
  output.close_streams();
  if (waits != nullptr) log_childless();
  if (ends) output.close_all();
  task::Change change;
  const bool asks = task::is_waiting(now.head.state);
  // The agent's own question takes the place of a child's.
  if (asks && std::holds_alternative<agents::Asked>(*outcome)) withdraw_question(change, at);
  for (task::EventBody& body : output.take()) change.events.push_back(std::move(body));
  if (asks && !ends) std::erase_if(change.events, is_status);
  change.expected = now.head.version;
  TurnEnding ending;
  ending.cancel_requested = canceled && ends;
  ending.cancel_reason = cancel_reason;
  if (!now.waiting.empty()) ending.next_message = now.waiting.front();
  ending.waiting_messages = now.head.waiting_messages;
  if (std::holds_alternative<agents::BrokenOff>(*outcome)) ending.shown = output.begun();
  ending.now = at;
  const auto* done = std::get_if<agents::Done>(outcome);
  const bool has_said = !output.reply().empty() || (done != nullptr && done->message);
  change.shows = ends && !(done != nullptr && has_said && output.is_reply_alone());
  // In a task that callers see, the reply of a message agent is an artifact, and is not repeated.
  const bool is_repeated =
      reply_as != agents::AgentSettings::ReplyAs::message || (now.head.hidden && !change.shows);
  if (is_repeated) ending.reply = output.reply();
  // The next turn learns of the cancel and undoes, so it begins without waiting for a child.
  const bool is_told_next = canceled && !ends && !is_undoing;
  if (waits != nullptr && (is_used_up || is_told_next)) {
    agents::Waits at_once = *waits;
    at_once.open_max = kWaitsForNothing;
    add_ending(change, now.head, at_once, ending);
  } else {
    add_ending(change, now.head, *outcome, ending);
  }
  return change;
}

// Logs the requests without a child, so that the turn that continues learns of them, too.
void TurnOutput::log_childless() {
  for (task::Subagent& none : std::exchange(childless, {})) {
    const task::Subagent end{none.id, none.name, task::Subagent::Phase::failed,
                             std::exchange(none.error, {})};
    output.add(std::move(none), at);
    output.add(end, at);
  }
}

}  // namespace baton::engine
