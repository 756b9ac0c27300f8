#include "server/router.h"

#include <algorithm>

#include "server/a2a/json_rpc.h"
#include "server/a2a/rest.h"
#include "server/access.h"
#include "server/answers.h"
#include "server/cards.h"
#include "server/hosts.h"
#include "server/metrics.h"

namespace baton::server {
namespace {

constexpr std::string_view kCard = "/.well-known/agent-card.json";
constexpr std::string_view kOldCard = "/.well-known/agent.json";  // until A2A 0.2
constexpr std::string_view kHostedAgents = "/v1/aibot/bots/";     // of AG-Kit
constexpr std::string_view kNoDefault =
    "no agent is the default one; GET /agents lists them, each at /agents/<name>/";
constexpr std::string_view kV02ExtendedCard = "/agent/authenticatedExtendedCard";

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

}  // namespace

Router::Target Router::target_of(const http::Request& request) const {
  const std::string_view path = request.path, raw = request.raw_path;
  const agents::Agent* const first = services_.catalogue.default_agent();
  const bool hosted = path.starts_with(kHostedAgents) && path.ends_with("/send-message");
  const std::string_view agents = hosted ? kHostedAgents : kAgents;
  if (!path.starts_with(agents)) return {{first, true, base_url_, true}, path, raw};
  const std::string_view after = path.substr(agents.size());
  const std::size_t end = std::min(after.find('/'), after.size());
  const std::string_view prefix = path.substr(0, agents.size() + end);
  // Names need no percent-encoding; if one is encoded anyway, the decoded rest is used.
  const std::string_view raw_rest = raw.starts_with(prefix) ? raw.substr(prefix.size()) : after.substr(end);
  const agents::Agent* agent = services_.catalogue.find({std::string(after.substr(0, end))});
  return {{agent, false, base_url_, agent && agent == first}, after.substr(end), raw_rest};
}

void Router::reply(http::Exchange& exchange, http::Reply reply) const {
  for (auto& header : cors_headers(services_.options, exchange.request())) {
    reply.headers.push_back(std::move(header));
  }
  exchange.reply(std::move(reply));
}

std::optional<http::Reply> Router::health(std::string_view method, std::string_view path) const {
  if (path != "/healthz" && path != "/health" && path != "/readyz") return std::nullopt;
  if (method != "GET" && method != "HEAD") return std::nullopt;
  if (path == "/healthz") return text(200, "ok\n");
  if (path == "/readyz") return readiness();
  http::Reply healthy;
  healthy.body = R"({"status":"healthy"})";
  return healthy;
}

// Ready even if agents were left out: the others are served.
http::Reply Router::readiness() const {
  if (!ready_) return text(503, "not ready\n");
  if (!services_.engine.store_is_writable()) return text(503, "not ready: the store cannot be written\n");
  std::string body = "ready\n";
  for (const agents::Catalogue::CardReport& one : services_.catalogue.left_out())
    body += "left out: " + one.folder + " (its card is wrong; the log says why)\n";
  return text(200, std::move(body));
}

bool Router::handle_operators(http::Exchange& exchange) const {
  const http::Request& request = exchange.request();
  const std::string& path = request.path;
  const bool known = path == "/healthz" || path == "/health" || path == "/readyz" || path == "/metrics";
  if (!known) return false;
  if (path != "/metrics" || (request.method != "GET" && request.method != "HEAD")) {
    reply(exchange, method_not_allowed("GET"));
  } else {
    reply(exchange, text(200, metrics_of(services_, http_counts_)));
  }
  return true;
}

// Returns how long to delay the refusal.
std::chrono::milliseconds Router::note_wrong_token(const http::Request& request,
                                                   const base::Error& error) const {
  // Only unknown tokens count: not a missing one, nor a valid one for another agent.
  const bool tried =
      error.code == base::ErrorCode::unauthenticated && !request.header("Authorization").empty();
  if (!tried) return std::chrono::milliseconds(0);
  return wrong_tokens_.noted(client_address(services_.options, request), std::chrono::steady_clock::now());
}

template <class Refuse>
void Router::refuse_caller(const http::Request& request, const base::Error& error, Refuse&& refuse) const {
  const auto wait = note_wrong_token(request, error);
  if (wait.count() == 0) return refuse();
  services_.engine.after(wait, std::forward<Refuse>(refuse));
}

// Handles a run of a chat protocol.
void Router::handle_chat(std::shared_ptr<http::Exchange> exchange, const Target& target,
                         chat::Door door) const {
  const http::Request& request = exchange->request();
  if (request.method != "POST") return reply(*exchange, method_not_allowed("POST"));
  if (!origin_may_call(services_.options, request)) {
    return reply(*exchange, plain_error(403, "pages of this origin may not call"));
  }
  auto caller = authenticate(services_.options, request, target.agent->name);
  if (!caller) {
    return refuse_caller(request, caller.error(),
                         [this, exchange, error = caller.error()] { reply(*exchange, refusal(error)); });
  }
  chat::handle(services_, *claims_, std::move(exchange), *target.agent, std::move(*caller), door);
}

// Handles an A2A operation: over JSON-RPC at the agent's own URL, or over REST.
void Router::handle_call(std::shared_ptr<http::Exchange> exchange, const Target& target) const {
  const http::Request& request = exchange->request();
  const bool is_rpc = target.rest.empty() || target.rest == "/";
  auto rest = is_rpc ? std::nullopt : a2a::match_rest(request.method, target.raw_rest);
  if (!is_rpc && !rest) return reply(*exchange, plain_error(404, "nothing is served at this path"));
  if (is_rpc && request.method != "POST") return reply(*exchange, method_not_allowed("POST"));
  if (rest && !rest->run) return reply(*exchange, method_not_allowed(rest->allow));
  if (!origin_may_call(services_.options, request)) {
    return reply(*exchange, plain_error(403, "pages of this origin may not call"));
  }
  auto caller = authenticate(services_.options, request, target.agent->name);
  if (!caller) {
    return refuse_caller(request, caller.error(), [this, exchange, target, rest, error = caller.error()] {
      if (rest) return a2a::refuse_rest(services_, exchange, target, *rest, error);
      a2a::refuse_json_rpc(services_, *exchange, error);
    });
  }
  if (is_rpc) {
    return a2a::handle_json_rpc(services_, std::move(exchange), target, std::move(*caller));
  }
  a2a::handle_rest(services_, std::move(exchange), target, std::move(*caller), std::move(*rest));
}

void Router::handle_agents(const std::shared_ptr<http::Exchange>& exchange, bool reads) const {
  const http::Request& request = exchange->request();
  if (!reads) return reply(*exchange, method_not_allowed("GET"));
  if (!origin_may_call(services_.options, request)) {
    return reply(*exchange, plain_error(403, "pages of this origin may not call"));
  }
  http::Reply answer = agents_reply(services_, request, base_url_);
  if (answer.status != 401) return reply(*exchange, std::move(answer));
  refuse_caller(request, {base::ErrorCode::unauthenticated, {}, {}},
                [this, exchange, answer] { reply(*exchange, answer); });
}

void Router::reply_extended_card(const std::shared_ptr<http::Exchange>& way_back,
                                 const Target& target) const {
  http::Exchange& exchange = *way_back;
  const http::Request& request = exchange.request();
  const auto caller = authenticate(services_.options, request, target.agent->name);
  if (!caller) {
    return refuse_caller(request, caller.error(),
                         [this, way_back, error = caller.error()] { reply(*way_back, refusal(error)); });
  }
  auto card = extended_card(services_, *target.agent, *caller, card_urls(services_.options, request, target),
                            wire::CardView::superset);
  if (!card) return reply(exchange, refusal(card.error()));
  http::Reply answer;
  answer.body = std::move(*card);
  reply(exchange, std::move(answer));
}

base::Result<void> Router::admit(const http::Request& head) const {
  if (!is_open_.load(std::memory_order_acquire)) return base::fail(base::ErrorCode::unavailable, "starting");
  if (!host_is_served(services_.options, head)) {
    return base::fail(base::ErrorCode::permission_denied, "this host is not served here");
  }
  const Target target = target_of(head);
  if (!target.agent) return {};
  const auto caller = authenticate(services_.options, head, target.agent->name);
  if (caller) return {};
  // Only recorded: gRPC cannot delay an answer here.
  note_wrong_token(head, caller.error());
  return base::fail(caller.error());
}

void Router::handle(std::shared_ptr<http::Exchange> exchange) const {
  const http::Request& request = exchange->request();
  if (auto healthy = health(request.method, request.path)) return reply(*exchange, std::move(*healthy));
  if (!host_is_served(services_.options, request)) {
    return exchange->reply(
        plain_error(403, "this host is not served here: the setting hosts lists those that are"));
  }
  if (request.method == "OPTIONS") return exchange->reply(preflight(services_.options, request));
  if (handle_operators(*exchange)) return;
  if (!is_open_.load(std::memory_order_acquire)) return reply(*exchange, plain_error(503, "starting"));
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (request.path == "/agents" || request.path == kAgents) return handle_agents(exchange, reads);
  const Target target = target_of(request);
  if (!target.agent && target.at_root) return reply(*exchange, plain_error(404, kNoDefault));
  if (!target.agent) return reply(*exchange, plain_error(404, "no such agent"));
  if (target.rest == kCard || target.rest == kOldCard) {
    if (!reads) return reply(*exchange, method_not_allowed("GET"));
    return reply(*exchange, card_reply(services_, request, *target.agent,
                                       card_urls(services_.options, request, target)));
  }
  if (target.rest == kV02ExtendedCard && reads) return reply_extended_card(exchange, target);
  if (const chat::Door door = chat::find_door(target.rest)) {
    return handle_chat(std::move(exchange), target, door);
  }
  handle_call(std::move(exchange), target);
}

}  // namespace baton::server
