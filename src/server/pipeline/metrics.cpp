#include "server/pipeline/metrics.h"

namespace baton::server {
namespace {

void gauge(std::string& out, std::string_view name, std::int64_t value, std::string_view help,
           std::string_view type = "gauge") {
  out.append("# HELP ").append(name).append(" ").append(help).append("\n# TYPE ").append(name).append(" ");
  out.append(type).append("\n").append(name).append(" ").append(std::to_string(value)).append("\n");
}

}  // namespace

std::string metrics_of(const Services& services, const std::function<http::Counts()>& http_counts) {
  std::string out;
  const engine::Engine::Counts counts = services.engine.counts();
  out += "# HELP baton_tasks_total Statuses stored since start.\n# TYPE baton_tasks_total counter\n";
  const auto total = [&](std::string_view state, std::int64_t value) {
    out.append("baton_tasks_total{state=\"")
        .append(state)
        .append("\"} ")
        .append(std::to_string(value))
        .append("\n");
  };
  total("submitted", counts.submitted);
  total("completed", counts.completed);
  total("failed", counts.failed);
  total("canceled", counts.canceled);
  total("rejected", counts.rejected);
  gauge(out, "baton_turns_queued", counts.turns.queued, "Turns waiting for a slot.");
  gauge(out, "baton_turns_running", counts.turns.running, "Turns running.");
  gauge(out, "baton_log_subscriptions", static_cast<std::int64_t>(counts.live.subscriptions),
        "Streams and waiting answers that follow a task.");
  if (http_counts) {
    const http::Counts http = http_counts();
    gauge(out, "baton_http_connections", http.connections, "Open connections.");
    gauge(out, "baton_http_streams", http.streams, "Open event streams.");
    gauge(out, "baton_http_requests_total", http.requests, "Requests since start.", "counter");
    gauge(out, "baton_http_refused_total", http.refused, "Requests the connection layer refused.", "counter");
  }
  if (services.more_metrics) out += services.more_metrics();
  return out;
}

}  // namespace baton::server
