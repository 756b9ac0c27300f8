#include "engine/recovery.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <future>

#include "base/loggable.h"
#include "engine/turn_ending.h"

namespace baton::engine {
namespace {

constexpr int kPage = 500;
constexpr int kSuspicious = 5;  // attempts, from which on the turn may be what crashes the program

void note(std::vector<task::ArtifactId>& begun, const task::ArtifactId& id) {
  if (std::find(begun.begin(), begun.end(), id) == begun.end()) begun.push_back(id);
}

// The next attempt makes its own children.
void close_subagents(task::Change& change, OpenSubagents& open) {
  for (task::Subagent& left : open.close_all("interrupted by a restart")) {
    change.events.push_back(std::move(left));
  }
}

}  // namespace

Recovery::Recovery(const store::TaskStore& store, Inbox& inbox, Scheduler& scheduler,
                   const agents::Catalogue& catalogue, const base::Clock& clock)
    : store_(store), inbox_(inbox), scheduler_(scheduler), catalogue_(catalogue), clock_(clock) {}

base::Result<std::vector<task::TaskHead>> Recovery::run() {
  auto found = all_unfinished();
  if (!found) return base::fail(std::move(found.error()));
  std::vector<const task::TaskHead*> queued;
  for (const task::TaskHead& head : *found) {
    // The agent's card is wrong: its tasks wait for a start with a correct one.
    if (catalogue_.is_left_out(head.agent)) {
      spdlog::warn("task={} agent={} its turn waits: the agent's card is wrong",
                   base::loggable_word(head.id.value), head.agent.value);
      continue;
    }
    const auto stays = recover(head);
    if (!stays) return base::fail(stays.error());
    if (*stays) queued.push_back(&head);
  }
  if (auto ended = end_orphans(); !ended) return base::fail(std::move(ended.error()));
  // Only now: a turn that begins may make tasks, which must not be taken for broken ones.
  for (const task::TaskHead* head : queued) {
    scheduler_.enqueue_again(head->key, head->agent, std::string(task::account_of(head->caller)));
  }
  return found;
}

base::Result<std::vector<task::TaskHead>> Recovery::all_unfinished() const {
  std::vector<task::TaskHead> all;
  while (true) {
    auto page = store_.open_tasks(store::TaskStore::Open::unfinished,
                                  all.empty() ? task::TaskKey{} : all.back().key, kPage);
    if (!page) return page;
    all.insert(all.end(), page->begin(), page->end());
    if (page->size() < static_cast<std::size_t>(kPage)) return all;
  }
}

// Returns whether the task has a turn to queue.
base::Result<bool> Recovery::recover(const task::TaskHead& found) {
  // Read again: if it is a child, it may have been ended with its parent's broken turn.
  const auto row = store_.row(found.key);
  if (!row) return base::fail(row.error());
  const task::TaskHead* head = &row->head;
  if (head->turn_state != task::TurnState::running) return head->turn_state == task::TurnState::queued;
  // The turn that waited for these children is gone; when it runs again, it makes new ones.
  if (auto ended = end_children(head->key); !ended) return base::fail(std::move(ended.error()));
  auto change = change_for(*head);
  if (!change) return base::fail(std::move(change.error()));
  const bool queued = change->turn->state == task::TurnState::queued;
  if (auto done = commit(std::move(*change)); !done) return base::fail(std::move(done.error()));
  return queued;
}

base::Result<void> Recovery::commit(task::Change change) {
  std::promise<base::Result<Written>> written;
  Decision decision;
  decision.task = change.task;
  decision.decide = [&change](const store::TaskRow&) { return base::Result<task::Change>(change); };
  decision.done = [&](base::Result<Written> result) { written.set_value(std::move(result)); };
  inbox_.post(std::move(decision));
  if (auto result = written.get_future().get(); !result) return base::fail(std::move(result.error()));
  return {};
}

base::Result<void> Recovery::end_children(task::TaskKey parent) {
  return end_all(Open::children, parent);
}

// Ends the children whose parent ended without canceling them.
base::Result<void> Recovery::end_orphans() {
  return end_all(Open::orphans, {});
}

// Cancels these tasks and their children.
base::Result<void> Recovery::end_all(Open which, task::TaskKey key) {
  while (true) {
    const auto open = store_.open_tasks(which, key, kPage);
    if (!open) return base::fail(open.error());
    if (open->empty()) return {};
    for (const task::TaskHead& head : *open) {
      if (auto ended = end_children(head.key); !ended) return ended;
      if (auto ended = end(head, task::State::canceled, {}); !ended) return ended;
    }
  }
}

base::Result<void> Recovery::end(const task::TaskHead& head, task::State state, const std::string& reason) {
  auto shown = shown_by_broken_turn(head);
  if (!shown) return base::fail(std::move(shown.error()));
  return commit(end_of(head, std::move(*shown), state, reason));
}

task::Change Recovery::end_of(const task::TaskHead& head, Shown shown, task::State state,
                              const std::string& reason) const {
  task::Change change;
  change.task = head.key;
  change.expected = head.version;
  change.turn.emplace();
  change.turn->state = task::TurnState::none;
  change.turn->waiting_messages = 0;
  close_subagents(change, shown.subagents);
  change.events.push_back(status_with_text(state, reason, clock_.now()));
  return change;
}

base::Result<task::Change> Recovery::change_for(const task::TaskHead& head) const {
  auto shown = shown_by_broken_turn(head);
  if (!shown) return base::fail(std::move(shown.error()));
  const auto ends = [&](task::State state, const std::string& reason) {
    if (state == task::State::failed) {
      spdlog::warn("task={} agent={} the task failed: {}", base::loggable_word(head.id.value),
                   head.agent.value, reason);
    }
    return end_of(head, std::move(*shown), state, reason);
  };
  const agents::Agent* agent = catalogue_.find(head.agent);
  if (head.cancel_requested) return ends(task::State::canceled, {});
  if (!agent) return ends(task::State::failed, "this agent is no longer served");
  if (agent->settings.recovery == agents::AgentSettings::Recovery::fail) {
    return ends(task::State::failed, "the agent was interrupted by a restart");
  }
  task::Change change;
  change.task = head.key;
  change.expected = head.version;
  change.turn.emplace();
  change.turn->state = task::TurnState::queued;
  close_subagents(change, shown->subagents);
  if (!shown->artifacts.empty()) change.events.push_back(task::Withdrawn{std::move(shown->artifacts)});
  spdlog::log(head.attempt < kSuspicious ? spdlog::level::info : spdlog::level::warn,
              "task={} agent={} its turn was broken off; attempt {} follows",
              base::loggable_word(head.id.value), head.agent.value, head.attempt + 1);
  return change;
}

base::Result<Recovery::Shown> Recovery::shown_by_broken_turn(const task::TaskHead& head) const {
  Shown shown;
  if (head.turn_state != task::TurnState::running) return shown;
  task::EventNumber after = head.turn_message;
  while (true) {
    const auto events = store_.events(head.key, after, kPage);
    if (!events) return base::fail(events.error());
    if (events->empty()) return shown;
    for (const task::Event& event : *events) {
      after = event.number;
      if (const auto* text = std::get_if<task::TextDelta>(&event.body); text && text->first)
        note(shown.artifacts, text->reply);
      if (const auto* chunk = std::get_if<task::ArtifactChunk>(&event.body); chunk && !chunk->append) {
        note(shown.artifacts, chunk->artifact.id);
      }
      if (const auto* subagent = std::get_if<task::Subagent>(&event.body)) shown.subagents.follow(*subagent);
    }
  }
}

}  // namespace baton::engine
