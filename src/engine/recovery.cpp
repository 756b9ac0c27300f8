#include "engine/recovery.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <future>

#include "base/loggable.h"
#include "engine/turn_ending.h"

namespace baton::engine {
namespace {

constexpr int kPage = 500;

void note(std::vector<task::ArtifactId>& begun, const task::ArtifactId& id) {
  if (std::find(begun.begin(), begun.end(), id) == begun.end()) begun.push_back(id);
}

}  // namespace

Recovery::Recovery(store::TaskStore& store, Ledger& ledger, Scheduler& scheduler,
                   const agents::Catalogue& catalogue, const base::Clock& clock, const EngineOptions& options)
    : store_(store),
      ledger_(ledger),
      scheduler_(scheduler),
      catalogue_(catalogue),
      clock_(clock),
      options_(options) {}

base::Result<int> Recovery::run() {
  int found = 0;
  task::TaskKey after;
  while (true) {
    const auto page = store_.unfinished(after, kPage);
    if (!page) return base::fail(page.error());
    for (const store::TaskHead& head : *page) {
      if (auto done = recover(head); !done) return base::fail(std::move(done.error()));
      after = head.key;
      ++found;
    }
    if (page->size() < static_cast<std::size_t>(kPage)) return found;
  }
}

base::Result<void> Recovery::recover(const store::TaskHead& head) {
  if (head.turn_state == store::TurnState::running) {
    auto change = change_for(head);
    if (!change) return base::fail(std::move(change.error()));
    const bool queued = change->turn->state == store::TurnState::queued;
    std::promise<base::Result<Ledger::Written>> written;
    ledger_.commit(std::move(*change),
                   [&](base::Result<Ledger::Written> result) { written.set_value(std::move(result)); });
    if (auto result = written.get_future().get(); !result) return base::fail(std::move(result.error()));
    if (!queued) return {};
  }
  scheduler_.enqueue_again(head.key, head.agent);
  return {};
}

base::Result<store::Change> Recovery::change_for(const store::TaskHead& head) const {
  store::Change change;
  change.task = head.key;
  change.expected = head.version;
  change.turn.emplace();
  change.turn->state = store::TurnState::none;
  change.turn->waiting_messages = 0;
  const agents::Agent* agent = catalogue_.find(head.agent);
  const auto end = [&](task::State state, const std::string& reason) {
    change.events.push_back(status_with_text(state, reason, clock_.now()));
    return change;
  };
  if (head.cancel_requested) return end(task::State::canceled, {});
  if (!agent) return end(task::State::failed, "this agent is no longer served");
  if (agent->settings.recovery == agents::AgentSettings::Recovery::fail) {
    return end(task::State::failed, "the agent was interrupted by a restart");
  }
  if (head.attempt >= options_.attempts_max) {
    return end(task::State::failed, "the agent was interrupted " + std::to_string(head.attempt) + " times");
  }
  auto shown = shown_by_broken_turn(head);
  if (!shown) return base::fail(std::move(shown.error()));
  if (!shown->empty()) change.events.push_back(task::Withdrawn{std::move(*shown)});
  change.turn->state = store::TurnState::queued;
  change.turn->waiting_messages = head.waiting_messages;
  spdlog::info("task={} agent={} its turn was broken off; attempt {} follows", head.id.value,
               head.agent.value, head.attempt + 1);
  return change;
}

// The artifacts and replies that began after the message of the turn.
base::Result<std::vector<task::ArtifactId>> Recovery::shown_by_broken_turn(
    const store::TaskHead& head) const {
  std::vector<task::ArtifactId> begun;
  task::EventNumber after = head.turn_message;
  while (true) {
    const auto events = store_.events(head.key, after, kPage);
    if (!events) return base::fail(events.error());
    for (const task::Event& event : *events) {
      after = event.number;
      if (const auto* text = std::get_if<task::TextDelta>(&event.body); text && text->first)
        note(begun, text->reply);
      if (const auto* chunk = std::get_if<task::ArtifactChunk>(&event.body); chunk && !chunk->append) {
        note(begun, chunk->artifact.id);
      }
    }
    if (events->size() < static_cast<std::size_t>(kPage)) return begun;
  }
}

}  // namespace baton::engine
