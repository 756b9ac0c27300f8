#include "server/operate/agent_rows.h"

#include <utility>

namespace baton::server::operate {
namespace {

using json::Writer;
using AgentKind = agents::AgentSettings::Kind;
using task::State;

std::string_view kind_name(AgentKind kind) {
  switch (kind) {
    case AgentKind::a2a:
      return "remote";
    case AgentKind::openai:
      return "model";
    case AgentKind::workflow:
      return "plan";
    case AgentKind::ag_ui:
      return "ag-ui";
    case AgentKind::builtin:
      return "builtin";
    case AgentKind::command:
      break;
  }
  return "command";
}

std::int64_t ended_as(const engine::AgentTurns& turns, State state) {
  return turns.turns[static_cast<std::size_t>(state)];
}

void write_turn_figures(Writer& out, const engine::AgentTurns& turns) {
  out.member("running", turns.running).member("queued", turns.queued);
  std::int64_t ended = 0;
  out.key("ended").object([&] {
    for (const State state : {State::completed, State::failed, State::canceled, State::rejected}) {
      out.member(task::name_of(state), ended_as(turns, state));
      ended += ended_as(turns, state);
    }
  });
  if (turns.turn_time.count > 0) {
    out.key("turnSeconds").object([&] {
      out.key("p50").real(turns.turn_time.quantile(0.5)).key("p99").real(turns.turn_time.quantile(0.99));
    });
  }
  const auto failed = static_cast<double>(ended_as(turns, State::failed));
  if (ended > 0) out.key("errorRate").real(failed / static_cast<double>(ended));
  out.member("tokens", turns.tokens);
}

}  // namespace

base::Result<AgentRows> AgentRows::read(const Facts& facts) {
  AgentRows rows;
  rows.default_ = facts.services.catalogue.default_agent();
  auto controls = facts.store.agent_controls();
  if (!controls) return base::fail(std::move(controls.error()));
  for (store::AgentControl& control : *controls) {
    std::string name = control.agent.value;
    rows.controls_.emplace(std::move(name), std::move(control));
  }
  for (engine::AgentTurns& turns : facts.services.engine.agent_turns()) {
    std::string name = turns.agent;
    rows.turns_.emplace(std::move(name), std::move(turns));
  }
  return rows;
}

void AgentRows::write(Writer& out, const agents::Agent& agent) const {
  const agents::AgentSettings& settings = agent.settings;
  const auto known = turns_.find(agent.name.value);
  const auto switched = controls_.find(agent.name.value);
  const store::AgentControl control = switched == controls_.end() ? store::AgentControl() : switched->second;
  out.object([&] {
    out.member("name", agent.name.value).member("title", agent.shown_card()->name);
    out.member("kind", kind_name(settings.executor));
    if (control.paused) out.member("paused", true);
    if (&agent == default_) out.member("default", true);
    if (settings.keeps_workers())
      out.member("workers", control.workers > 0 ? control.workers : settings.workers);
    out.member("concurrency", control.concurrency > 0 ? control.concurrency : settings.concurrency);
    if (control.workers > 0 || control.concurrency > 0) out.member("scaled", true);
    write_turn_figures(out, known == turns_.end() ? engine::AgentTurns() : known->second);
    out.key("stderr").strings(agent.executor ? agent.executor->error_lines() : std::vector<std::string>());
    if (settings.plan) out.member("hasPlan", true);
  });
}

}  // namespace baton::server::operate
