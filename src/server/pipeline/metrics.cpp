#include "server/pipeline/metrics.h"

#include "base/metrics_text.h"
#include "task/state.h"

namespace baton::server {
namespace {

using base::MetricsText;
using Type = MetricsText::Type;
using Agents = std::vector<engine::AgentTurns>;

double in_seconds(base::Histogram::Time time) {
  return std::chrono::duration<double>(time).count();
}

// Writes a sample for each agent and state whose count is not 0.
template <class Counts>
void by_state(MetricsText& out, const Agents& agents, Counts&& counts) {
  for (const engine::AgentTurns& agent : agents) {
    for (std::size_t i = 0; i < engine::TurnStats::kStates; ++i) {
      const std::int64_t count = counts(agent)[i];
      if (count == 0) continue;
      out.value({{"agent", agent.agent}, {"state", task::name_of(static_cast<task::State>(i))}}, count);
    }
  }
}

void add_tasks(MetricsText& out, const Agents& agents) {
  out.family("baton_tasks_total", Type::counter, "Task status changes stored since start, by state.");
  by_state(out, agents, [](const auto& agent) { return agent.statuses; });
  out.family("baton_tokens_total", Type::counter, "Model tokens that agents reported.");
  for (const auto& agent : agents) {
    if (agent.tokens > 0) out.value({{"agent", agent.agent}}, agent.tokens);
  }
}

void add_turns(MetricsText& out, const engine::Engine& engine, const engine::Engine::Counts& counts,
               const Agents& agents) {
  out.gauge("baton_turns_queued", "Turns waiting for a slot.", std::int64_t{counts.turns.queued});
  out.gauge("baton_turns_running", "Turns running.", std::int64_t{counts.turns.running});
  out.gauge("baton_turns_waiting_for_time", "Turns waiting for a point in time.",
            static_cast<std::int64_t>(counts.waiting_for_time));
  out.gauge("baton_turns_quarantined",
            "Turns that an operator must requeue because the server crashed while they ran.",
            static_cast<std::int64_t>(engine.quarantined()));
  base::Histogram::Time oldest{0};
  for (const auto& agent : agents) oldest = std::max(oldest, agent.oldest_queued);
  out.gauge("baton_turns_oldest_queued_seconds",
            "Longest time that a waiting turn has waited for a slot, in seconds.", in_seconds(oldest));
  out.family("baton_agent_turns_queued", Type::gauge, "Turns waiting for a slot, by agent.");
  for (const auto& agent : agents) out.value({{"agent", agent.agent}}, std::int64_t{agent.queued});
  out.family("baton_agent_turns_running", Type::gauge, "Turns running, by agent.");
  for (const auto& agent : agents) out.value({{"agent", agent.agent}}, std::int64_t{agent.running});
  out.family("baton_agent_turns_oldest_queued_seconds", Type::gauge,
             "Longest time that a waiting turn has waited for a slot, in seconds, by agent.");
  for (const auto& agent : agents) out.value({{"agent", agent.agent}}, in_seconds(agent.oldest_queued));
  out.family("baton_turns_total", Type::counter,
             "Turns that ended, by the state of their task; going-on: the task has another turn.");
  by_state(out, agents, [](const auto& agent) { return agent.turns; });
  for (const auto& agent : agents) {
    if (agent.turns_going_on > 0)
      out.value({{"agent", agent.agent}, {"state", "going-on"}}, agent.turns_going_on);
  }
  out.family("baton_turn_duration_seconds", Type::histogram, "Duration of turns, in seconds.");
  for (const auto& agent : agents) {
    if (agent.turn_time.count > 0) out.histogram({{"agent", agent.agent}}, agent.turn_time);
  }
  out.family("baton_turn_queue_duration_seconds", Type::histogram,
             "Time that turns waited for a slot, in seconds.");
  for (const auto& agent : agents) {
    if (agent.queue_time.count > 0) out.histogram({{"agent", agent.agent}}, agent.queue_time);
  }
}

void add_handshakes(MetricsText& out, const http::Counts::Handshakes& counts) {
  out.gauge("baton_tls_handshakes_open", "TLS handshakes under way on the callers' port.", counts.under_way);
  out.family(
      "baton_tls_handshakes_total", Type::counter,
      "TLS handshakes on the callers' port since start, by outcome; plain_http: the client sent no TLS.");
  out.value({{"outcome", "completed"}}, counts.completed);
  out.value({{"outcome", "failed"}}, counts.failed);
  out.value({{"outcome", "timed_out"}}, counts.late);
  out.value({{"outcome", "plain_http"}}, counts.plain);
}

void add_http(MetricsText& out, const http::Counts& counts) {
  out.gauge("baton_http_connections", "Open connections.", std::int64_t{counts.connections});
  out.gauge("baton_http_streams", "Open event streams.", std::int64_t{counts.streams});
  out.counter("baton_http_requests_total", "Requests since start, including health checks.",
              std::int64_t{counts.requests});
  out.counter("baton_http_refused_total", "Requests that the connection layer refused.",
              std::int64_t{counts.refused});
  if (counts.handshakes) add_handshakes(out, *counts.handshakes);
}

}  // namespace

std::string metrics_of(const Services& services, const std::function<http::Counts()>& http_counts) {
  MetricsText out;
  const engine::Engine::Counts counts = services.engine.counts();
  const Agents agents = services.engine.agent_turns();
  add_tasks(out, agents);
  add_turns(out, services.engine, counts, agents);
  out.gauge("baton_agents_left_out", "Agents that are not served because their cards are invalid.",
            static_cast<std::int64_t>(services.catalogue.left_out().size()));
  out.gauge("baton_agents_outdated", "Agents that use an earlier card because their current card is invalid.",
            static_cast<std::int64_t>(services.catalogue.outdated().size()));
  out.gauge("baton_schedules", "Schedules in agents' cards.", std::int64_t{counts.schedules.schedules});
  out.counter("baton_scheduled_tasks_total", "Tasks created by schedules since start.",
              std::int64_t{counts.schedules.begun});
  out.gauge("baton_log_subscriptions", "Streams and blocking requests that follow a task.",
            static_cast<std::int64_t>(counts.live.subscriptions));
  out.family("baton_flush_duration_seconds", Type::histogram,
             "Time to flush a group of changes to disk, in seconds.");
  out.histogram({}, services.engine.flush_time().snapshot());
  if (http_counts) add_http(out, http_counts());
  if (services.requests != nullptr) services.requests->add_to(out);
  if (services.more_metrics) services.more_metrics(out);
  return out.text();
}

}  // namespace baton::server
