#include "server/router.h"

#include <algorithm>

#include "server/access.h"
#include "server/answers.h"
#include "wire/a2a/v0_1.h"

namespace baton::server {
namespace {

constexpr std::string_view kAgents = "/agents/";
constexpr std::string_view kCard = "/.well-known/agent.json";

http::Reply method_not_allowed(std::string_view allow) {
  http::Reply reply = plain_error(405, "this path is for " + std::string(allow));
  reply.headers.emplace_back("Allow", std::string(allow));
  return reply;
}

http::Reply text(int status, std::string body) {
  http::Reply reply;
  reply.status = status;
  reply.content_type = "text/plain; charset=utf-8";
  reply.body = std::move(body);
  return reply;
}

bool all_of(std::string_view text, std::string_view more) {
  return std::all_of(text.begin(), text.end(), [&](unsigned char c) {
    return std::isalnum(c) || more.find(static_cast<char>(c)) != std::string_view::npos;
  });
}

// A Host header goes into the card's URL: only what a host and a port are made of gets there.
bool is_host(std::string_view host) {
  constexpr std::size_t kHostMax = 255;
  if (host.empty() || host.size() > kHostMax) return false;
  const std::size_t bracket = host.starts_with('[') ? host.find(']') : std::string_view::npos;
  const std::size_t name_end = bracket == std::string_view::npos ? host.find(':') : bracket + 1;
  const std::string_view name = host.substr(0, name_end);
  const std::string_view port = name_end < host.size() ? host.substr(name_end) : std::string_view();
  const bool name_good = bracket == std::string_view::npos ? !name.empty() && all_of(name, ".-_")
                                                           : all_of(name.substr(1, bracket - 1), ":.");
  const bool port_good = port.empty() || (port.size() > 1 && port.size() <= 6 && port[0] == ':' &&
                                          port.find_first_not_of("0123456789", 1) == std::string_view::npos);
  return name_good && port_good;
}

void gauge(std::string& out, std::string_view name, std::int64_t value, std::string_view help,
           std::string_view type = "gauge") {
  out.append("# HELP ").append(name).append(" ").append(help).append("\n# TYPE ").append(name).append(" ");
  out.append(type).append("\n").append(name).append(" ").append(std::to_string(value)).append("\n");
}

}  // namespace

Router::Target Router::target_of(std::string_view path) const {
  if (!path.starts_with(kAgents)) return {&services_.catalogue.default_agent(), path, true};
  const std::string_view after = path.substr(kAgents.size());
  const std::size_t end = std::min(after.find('/'), after.size());
  return {services_.catalogue.find({std::string(after.substr(0, end))}), after.substr(end), false};
}

std::string Router::url_of(const http::Request& request, const Target& target) const {
  std::string base = services_.options.public_url;
  if (base.empty()) {
    const std::string_view host = request.header("Host");
    base = is_host(host) ? "http://" + std::string(host) : base_url_;
  }
  if (base.ends_with('/')) base.pop_back();
  return target.at_root ? base + "/" : base + std::string(kAgents) + target.agent->name.value + "/";
}

http::Reply Router::card(const http::Request& request, const Target& target) const {
  http::Reply reply;
  wire::Writer writer(reply.body);
  wire::v0_1::Served served;
  served.url = url_of(request, target);
  served.push = services_.engine.options().push_enabled;
  served.bearer = !services_.options.anonymous;
  wire::v0_1::write_card(writer, target.agent->card, served);
  reply.headers.emplace_back("Cache-Control", "max-age=60");
  return reply;
}

http::Reply Router::get(const http::Request& request) const {
  if (request.path == "/healthz") return text(200, "ok\n");
  if (request.path == "/readyz") return ready_ ? text(200, "ready\n") : text(503, "not ready\n");
  if (request.path == "/metrics") return text(200, metrics());
  const Target target = target_of(request.path);
  if (!target.agent) return plain_error(404, "no such agent");
  if (target.rest == kCard) return card(request, target);
  if (target.rest.empty() || target.rest == "/") return method_not_allowed("POST");
  return plain_error(404, "nothing is served at this path");
}

void Router::post(std::shared_ptr<http::Exchange> exchange) const {
  const http::Request& request = exchange->request();
  const Target target = target_of(request.path);
  const auto refuse = [&](http::Reply reply) {
    for (auto& header : cors_headers(services_.options, request)) reply.headers.push_back(std::move(header));
    exchange->reply(std::move(reply));
  };
  if (!target.agent) return refuse(plain_error(404, "no such agent"));
  if (!target.rest.empty() && target.rest != "/") {
    if (target.rest == kCard) return refuse(method_not_allowed("GET"));
    return refuse(plain_error(404, "nothing is served at this path"));
  }
  if (!origin_may_call(services_.options, request)) {
    return refuse(plain_error(403, "pages of this origin may not call"));
  }
  auto caller = authenticate(services_.options, request, target.agent->name);
  if (!caller) return refuse(refusal(caller.error()));
  a2a_v0_1_.handle(std::move(exchange), *target.agent, std::move(*caller));
}

void Router::handle(std::shared_ptr<http::Exchange> exchange) const {
  const http::Request& request = exchange->request();
  if (request.method == "POST") return post(std::move(exchange));
  http::Reply reply;
  if (request.method == "OPTIONS") {
    reply = preflight(services_.options, request);
  } else if (request.method == "GET" || request.method == "HEAD") {
    reply = get(request);
    for (auto& header : cors_headers(services_.options, request)) reply.headers.push_back(std::move(header));
  } else {
    reply = method_not_allowed("GET, POST, OPTIONS");
  }
  exchange->reply(std::move(reply));
}

std::string Router::metrics() const {
  std::string out;
  const engine::Engine::Counts counts = services_.engine.counts();
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
  gauge(out, "baton_log_subscriptions", static_cast<std::int64_t>(counts.feed.subscriptions),
        "Streams and waiting answers that follow a task.");
  if (http_counts_) {
    const http::Counts http = http_counts_();
    gauge(out, "baton_http_connections", http.connections, "Open connections.");
    gauge(out, "baton_http_streams", http.streams, "Open event streams.");
    gauge(out, "baton_http_requests_total", http.requests, "Requests since start.", "counter");
    gauge(out, "baton_http_refused_total", http.refused, "Requests the connection layer refused.", "counter");
  }
  if (services_.more_metrics) out += services_.more_metrics();
  return out;
}

}  // namespace baton::server
