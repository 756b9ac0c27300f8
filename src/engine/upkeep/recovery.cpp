#include "engine/upkeep/recovery.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/loggable.h"
#include "base/promise.h"
#include "base/text.h"
#include "engine/decide/kinds/recover.h"
#include "engine/decide/rules/turn_ending.h"
#include "engine/shared/message_checks.h"

namespace baton::engine {
namespace {

constexpr int kRecoveredPage = 500;
constexpr int kSuspicious = 5;  // attempts; from then on the log warns
// How long a quarantined turn waits: practically for ever.
constexpr base::Duration kForGood = std::chrono::hours(24 * 365 * 100);

void close_subagents(task::Change& change, UnfinishedSubagents& open) {
  for (task::Subagent& left : open.close_all("interrupted by a restart")) {
    change.events.push_back(std::move(left));
  }
}

// Whether an event shows progress of a turn. Its beginning and the events of a recovery do not.
bool is_output(const task::EventBody& body) {
  if (const auto* status = std::get_if<task::StatusChanged>(&body)) return status->status.message.has_value();
  if (const auto* added = std::get_if<task::MessageAdded>(&body))
    return added->message.role != task::Role::user;
  return !std::holds_alternative<task::Withdrawn>(body) && !std::holds_alternative<task::Intervention>(body);
}

bool is_due(const store::CrashedTurn* turn) {
  return turn != nullptr && turn->alone >= store::kQuarantineDeaths && !turn->quarantined;
}

std::string why_quarantined(const store::CrashedTurn& turn) {
  return "quarantined: the server crashed " + base::counted(turn.deaths, "time") +
         " while this turn ran; an operator must requeue it";
}

}  // namespace

Recovery::Recovery(const store::TaskStore& store, store::OperatorStore* operators, Inbox& inbox,
                   const agents::Catalogue& catalogue, const base::Clock& clock, store::NodeId self,
                   std::function<bool(task::TaskKey)> runs_here)
    : store_(store),
      operators_(operators),
      inbox_(inbox),
      catalogue_(catalogue),
      clock_(clock),
      self_(self),
      runs_here_(std::move(runs_here)) {}

base::Result<Recovery::Found> Recovery::run() {
  auto all = all_unfinished();
  if (!all) return base::fail(std::move(all.error()));
  auto found = take_up(std::move(*all));
  if (!found) return found;
  if (auto ended = end_orphans(found->going_on); !ended) return base::fail(std::move(ended.error()));
  return found;
}

base::Result<Recovery::Found> Recovery::take_up(std::vector<task::TaskHead> unfinished) {
  Found found{std::move(unfinished), {}, {}, {}};
  auto crashed = crashed_turns();
  if (!crashed) return base::fail(std::move(crashed.error()));
  store::CrashCounts counts;
  for (const task::TaskHead& head : found.unfinished) {
    // The agent's card is wrong: its tasks wait for a start with a correct one.
    if (catalogue_.is_left_out(head.agent)) {
      spdlog::warn("task={} agent={} its turn waits until the agent's card is corrected: the card is invalid",
                   base::loggable_word(head.id.value), head.agent.value);
      continue;
    }
    const auto known = std::ranges::lower_bound(*crashed, head.key, {}, &store::CrashedTurn::task);
    store::CrashedTurn* turn =
        known != crashed->end() && known->task == head.key && known->turn == head.turn ? &*known : nullptr;
    const bool has_died = turn != nullptr && turn->seen != store::CrashedTurn::Seen::none;
    if (has_died) {
      if (auto counted = count_death(head, *turn); !counted) return base::fail(std::move(counted.error()));
    }
    auto now = recover(head, turn);
    if (!now) return base::fail(std::move(now.error()));
    const bool waits_for_time = now->turn_state == task::TurnState::waiting && now->waits.until;
    if (is_due(turn) && waits_for_time) turn->quarantined = clock_.now();
    if (has_died) {
      turn->last_event = now->last_event;
      if (now->turn_state == task::TurnState::none) turn->deaths = 0;
      counts.turns.push_back(*turn);
    }
    const bool runs = now->turn_state == task::TurnState::running;
    if (now->turn_state == task::TurnState::none || runs) continue;
    if (turn != nullptr && turn->quarantined) {
      found.quarantined.push_back(head.key);
    } else if (turn != nullptr && turn->deaths >= store::kSuspectDeaths) {
      found.suspects.push_back(*now);
    }
    found.going_on.push_back(std::move(*now));
  }
  if (auto stored = store_counts(std::move(counts)); !stored) return base::fail(std::move(stored.error()));
  return found;
}

base::Result<Recovery::Crashed> Recovery::crashed_turns() const {
  return operators_ == nullptr ? base::Result<Crashed>(Crashed()) : operators_->crashed_turns();
}

base::Result<void> Recovery::count_death(const task::TaskHead& head, store::CrashedTurn& turn) const {
  if (turn.deaths > 0) {
    auto came_further = has_output(head.key, turn.last_event);
    if (!came_further) return base::fail(std::move(came_further.error()));
    if (*came_further) turn.deaths = turn.alone = 0;
  }
  ++turn.deaths;
  if (turn.deaths > store::kSuspectDeaths && turn.seen == store::CrashedTurn::Seen::death_alone) ++turn.alone;
  turn.seen = store::CrashedTurn::Seen::none;
  if (turn.deaths < store::kSuspectDeaths) return {};
  spdlog::warn(
      "task={} agent={} its turn was running at each of the last {} crashes of the server, so it runs while "
      "no other such turn does",
      base::loggable_word(head.id.value), head.agent.value, turn.deaths);
  return {};
}

base::Result<bool> Recovery::has_output(task::TaskKey task, task::EventNumber after) const {
  while (true) {
    const auto events = store_.events(task, after, kRecoveredPage);
    if (!events) return base::fail(events.error());
    if (events->empty()) return false;
    if (std::ranges::any_of(*events, [](const task::Event& event) { return is_output(event.body); }))
      return true;
    after = events->back().number;
  }
}

base::Result<void> Recovery::store_counts(store::CrashCounts counts) {
  if (counts.turns.empty()) return {};
  base::Promise<base::Result<void>> written;
  inbox_.write([this, counts = std::move(counts)] { return operators_->write(counts); },
               [&](base::Result<void> result) { written.set_value(std::move(result)); });
  return written.get_future().get();
}

base::Result<std::vector<task::TaskHead>> Recovery::all_unfinished() const {
  std::vector<task::TaskHead> all;
  while (true) {
    auto page = store_.open_tasks(store::TaskStore::Open::unfinished,
                                  all.empty() ? task::TaskKey{} : all.back().key, kRecoveredPage);
    if (!page) return page;
    all.insert(all.end(), page->begin(), page->end());
    if (page->size() < static_cast<std::size_t>(kRecoveredPage)) return all;
  }
}

// Returns the task as it is afterwards: its turn runs only if it has begun on this node.
base::Result<task::TaskHead> Recovery::recover(task::TaskHead found, const store::CrashedTurn* crashed) {
  while (found.turn_state == task::TurnState::running ||
         (found.turn_state == task::TurnState::queued && is_due(crashed))) {
    auto change = change_for(found, crashed);
    if (!change) return base::fail(std::move(change.error()));
    auto now = commit(std::move(*change));
    if (!now && now.error().code == base::ErrorCode::not_found) return found;
    if (now || now.error().code != base::ErrorCode::conflict) return now;
    // Another node has added a message or canceled the task.
    auto row = store_.row(found.key);
    if (!row) return base::fail(std::move(row.error()));
    found = std::move(row->head);
  }
  return found;
}

base::Result<task::TaskHead> Recovery::commit(task::Change change) {
  base::Promise<base::Result<Written>> written;
  const task::TaskKey task = change.task;
  Decision decision(Recover{task, std::move(change), runs_here_});
  decision.done = [&](base::Result<Written> result) { written.set_value(std::move(result)); };
  inbox_.post(std::move(decision));
  auto result = written.get_future().get();
  if (!result) return base::fail(std::move(result.error()));
  return std::move(result->head);
}

// Cancels the children of a task that is about to end, and their children. Those that undo their work first
// are left, and become orphans.
base::Result<void> Recovery::end_children(task::TaskKey parent) {
  while (true) {
    const auto open = store_.open_tasks(Open::children, parent, kRecoveredPage);
    if (!open) return base::fail(open.error());
    bool any = false;
    for (const task::TaskHead& head : *open) {
      if (undoes_first(catalogue_.find(head.agent), head)) continue;
      any = true;
      if (auto ended = end_children(head.key); !ended) return ended;
      if (auto ended = end(head, task::State::canceled, {}); !ended) return ended;
    }
    if (!any) return {};
  }
}

// Cancels the children whose parent ended without canceling them. It skips those whose turn belongs to
// another node, which may be canceling them now; if that node is gone, the one that takes over its tasks
// cancels them.
base::Result<void> Recovery::end_orphans(std::vector<task::TaskHead>& going_on) {
  task::TaskKey last;
  while (true) {
    const auto open = store_.open_tasks(Open::orphans, last, kRecoveredPage);
    if (!open) return base::fail(open.error());
    if (open->empty()) return {};
    last = open->back().key;
    for (const task::TaskHead& head : *open) {
      const auto row = store_.row(head.key);
      if (!row && row.error().code == base::ErrorCode::task_not_found) continue;
      if (!row) return base::fail(row.error());
      if (row->owner && row->owner != self_) continue;
      const bool undoes = undoes_first(catalogue_.find(head.agent), head);
      auto ended = undoes ? undo(head, going_on) : end_children(head.key);
      if (ended && !undoes) ended = end(head, task::State::canceled, {});
      if (!ended) return ended;
    }
  }
}

// Makes a task undo its work, unless it already does.
base::Result<void> Recovery::undo(task::TaskHead head, std::vector<task::TaskHead>& going_on) {
  while (!head.cancel_requested) {
    task::Change change;
    begin_undoing(change, head, clock_.now());
    auto undoing = commit(std::move(change));
    if (undoing) {
      const auto found = std::ranges::find(going_on, head.key, &task::TaskHead::key);
      if (found != going_on.end()) *found = std::move(*undoing);
      return {};
    }
    if (undoing.error().code != base::ErrorCode::conflict) return base::fail(std::move(undoing.error()));
    const auto is_open = look_again(head);
    if (!is_open || !*is_open) return is_open ? base::Result<void>() : base::fail(is_open.error());
  }
  return {};
}

base::Result<void> Recovery::end(task::TaskHead head, task::State state, const std::string& reason) {
  while (true) {
    auto log = log_of_turn(head);
    if (!log) return base::fail(std::move(log.error()));
    auto ended = commit(end_of(head, std::move(*log), state, reason));
    if (ended) return {};
    if (ended.error().code != base::ErrorCode::conflict) return base::fail(std::move(ended.error()));
    const auto is_open = look_again(head);
    if (!is_open || !*is_open) return is_open ? base::Result<void>() : base::fail(is_open.error());
  }
}

// Another node has changed the task. Returns whether it has not ended.
base::Result<bool> Recovery::look_again(task::TaskHead& head) const {
  auto row = store_.row(head.key);
  if (!row && row.error().code == base::ErrorCode::task_not_found) return false;
  if (!row) return base::fail(std::move(row.error()));
  head = std::move(row->head);
  return !task::is_terminal(head.state);
}

task::Change Recovery::end_of(const task::TaskHead& head, TurnLog log, task::State state,
                              const std::string& reason) const {
  task::Change change;
  change.task = head.key;
  change.expected = head.version;
  change.turn.emplace();
  change.turn->state = task::TurnState::none;
  change.turn->waiting_messages = 0;
  close_subagents(change, log.subagents);
  change.events.push_back(status_with_text(state, reason, clock_.now()));
  return change;
}

base::Result<task::Change> Recovery::change_for(const task::TaskHead& head,
                                                const store::CrashedTurn* crashed) const {
  auto log = log_of_turn(head);
  if (!log) return base::fail(std::move(log.error()));
  const auto ends = [&](task::State state, const std::string& reason) {
    if (state == task::State::failed) {
      spdlog::warn("task={} agent={} the task failed: {}", base::loggable_word(head.id.value),
                   head.agent.value, reason);
    }
    return end_of(head, std::move(*log), state, reason);
  };
  const agents::Agent* agent = catalogue_.find(head.agent);
  if (head.cancel_requested && !undoes_first(agent, head)) {
    const bool works_elsewhere = agent && agent->settings.executor == agents::AgentSettings::Kind::a2a;
    return ends(task::State::canceled,
                works_elsewhere ? "canceled at a restart; the remote agent may still be running" : "");
  }
  if (!agent) return ends(task::State::failed, no_longer_served(head.agent));
  // The task of a remote agent is resumed; its executor decides about a message that may have arrived.
  const bool takes_up = agent->settings.executor == agents::AgentSettings::Kind::a2a;
  if (agent->settings.recovery == agents::AgentSettings::Recovery::fail && !takes_up) {
    return ends(task::State::failed, "the agent was interrupted by a restart");
  }
  task::Change change;
  change.task = head.key;
  change.expected = head.version;
  const bool goes_beside = agent->settings.resumes_beside_children;
  if (head.awaited > 0 && !goes_beside) {
    spdlog::info("task={} agent={} its turn was interrupted and waits for its child tasks",
                 base::loggable_word(head.id.value), head.agent.value);
    run_again(change, head, std::move(log->shown));
    return change;
  }
  change.turn.emplace();
  change.turn->state = task::TurnState::queued;
  if (!goes_beside) close_subagents(change, log->subagents);
  if (!log->shown.empty()) change.events.push_back(task::Withdrawn{std::move(log->shown)});
  if (is_due(crashed)) {
    change.turn->state = task::TurnState::waiting;
    change.turn->waits = {-1, false, clock_.now() + kForGood};
    change.shows = true;
    // A child's question stays visible.
    if (!task::is_waiting(head.state))
      change.events.push_back(status_with_text(head.state, why_quarantined(*crashed), clock_.now()));
    spdlog::error("task={} agent={} its turn is {}", base::loggable_word(head.id.value), head.agent.value,
                  why_quarantined(*crashed));
    return change;
  }
  spdlog::log(head.attempt < kSuspicious ? spdlog::level::info : spdlog::level::warn,
              "task={} agent={} its turn was interrupted; starting attempt {}",
              base::loggable_word(head.id.value), head.agent.value, head.attempt + 1);
  return change;
}

base::Result<TurnLog> Recovery::log_of_turn(const task::TaskHead& head) const {
  if (head.turn_state == task::TurnState::none) return TurnLog();
  return read_turn_log(
      head, [&](task::EventNumber after) { return store_.events(head.key, after, kRecoveredPage); });
}

}  // namespace baton::engine
