#include "server/router.h"

#include <algorithm>

#include "server/a2a/json_rpc.h"
#include "server/a2a/rest.h"
#include "server/access.h"
#include "server/answers.h"
#include "server/cards.h"
#include "server/metrics.h"

namespace baton::server {
namespace {

constexpr std::string_view kCard = "/.well-known/agent-card.json";
constexpr std::string_view kOldCard = "/.well-known/agent.json";  // until A2A 0.2
constexpr std::string_view kHostedAgents = "/v1/aibot/bots/";     // of AG-Kit
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
  const agents::Agent& first = services_.catalogue.default_agent();
  const bool hosted = path.starts_with(kHostedAgents) && path.ends_with("/send-message");
  const std::string_view agents = hosted ? kHostedAgents : kAgents;
  if (!path.starts_with(agents)) return {{&first, true, base_url_, true}, path, raw};
  const std::string_view after = path.substr(agents.size());
  const std::size_t end = std::min(after.find('/'), after.size());
  const std::string_view prefix = path.substr(0, agents.size() + end);
  // A name holds nothing that needs encoding; where it is encoded all the same, the rest is taken decoded.
  const std::string_view raw_rest = raw.starts_with(prefix) ? raw.substr(prefix.size()) : after.substr(end);
  const agents::Agent* agent = services_.catalogue.find({std::string(after.substr(0, end))});
  return {{agent, false, base_url_, agent == &first}, after.substr(end), raw_rest};
}

void Router::reply(http::Exchange& exchange, http::Reply reply) const {
  for (auto& header : cors_headers(services_.options, exchange.request())) {
    reply.headers.push_back(std::move(header));
  }
  exchange.reply(std::move(reply));
}

bool Router::handle_operators(http::Exchange& exchange) const {
  const http::Request& request = exchange.request();
  const bool reads = request.method == "GET" || request.method == "HEAD";
  const std::string& path = request.path;
  const bool known = path == "/healthz" || path == "/health" || path == "/readyz" || path == "/metrics";
  if (!known) return false;
  if (!reads) {
    reply(exchange, method_not_allowed("GET"));
  } else if (path == "/metrics") {
    reply(exchange, text(200, metrics_of(services_, http_counts_)));
  } else if (path == "/health") {
    http::Reply healthy;
    healthy.body = R"({"status":"healthy"})";
    reply(exchange, std::move(healthy));
  } else if (path == "/readyz") {
    reply(exchange, ready_ ? text(200, "ready\n") : text(503, "not ready\n"));
  } else {
    reply(exchange, text(200, "ok\n"));
  }
  return true;
}

// A run of a chat protocol.
void Router::handle_chat(std::shared_ptr<http::Exchange> exchange, const Target& target,
                         chat::Door door) const {
  const http::Request& request = exchange->request();
  if (request.method != "POST") return reply(*exchange, method_not_allowed("POST"));
  if (!origin_may_call(services_.options, request)) {
    return reply(*exchange, plain_error(403, "pages of this origin may not call"));
  }
  auto caller = authenticate(services_.options, request, target.agent->name);
  if (!caller) return reply(*exchange, refusal(caller.error()));
  chat::handle(services_, *runs_, std::move(exchange), *target.agent, std::move(*caller), door);
}

// An operation of A2A: over JSON-RPC at the agent's own URL, or over REST.
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
  if (!caller && rest) {
    return a2a::refuse_rest(services_, std::move(exchange), target, *rest, caller.error());
  }
  if (!caller) return reply(*exchange, refusal(caller.error()));
  if (is_rpc) {
    return a2a::handle_json_rpc(services_, std::move(exchange), target, std::move(*caller));
  }
  a2a::handle_rest(services_, std::move(exchange), target, std::move(*caller), std::move(*rest));
}

void Router::reply_extended_card(http::Exchange& exchange, const Target& target) const {
  const http::Request& request = exchange.request();
  const auto caller = authenticate(services_.options, request, target.agent->name);
  if (!caller) return reply(exchange, refusal(caller.error()));
  auto card = extended_card(services_, *target.agent, *caller, card_urls(services_.options, request, target),
                            wire::CardView::superset);
  if (!card) return reply(exchange, refusal(card.error()));
  http::Reply answer;
  answer.body = std::move(*card);
  reply(exchange, std::move(answer));
}

void Router::handle(std::shared_ptr<http::Exchange> exchange) const {
  const http::Request& request = exchange->request();
  if (request.method == "OPTIONS") return exchange->reply(preflight(services_.options, request));
  if (handle_operators(*exchange)) return;
  if (!is_open_.load(std::memory_order_acquire)) return reply(*exchange, plain_error(503, "starting"));
  const Target target = target_of(request);
  if (!target.agent) return reply(*exchange, plain_error(404, "no such agent"));
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (target.rest == kCard || target.rest == kOldCard) {
    if (!reads) return reply(*exchange, method_not_allowed("GET"));
    return reply(*exchange, card_reply(services_, request, *target.agent,
                                       card_urls(services_.options, request, target)));
  }
  if (target.rest == kV02ExtendedCard && reads) return reply_extended_card(*exchange, target);
  if (const chat::Door door = chat::find_door(target.rest)) {
    return handle_chat(std::move(exchange), target, door);
  }
  handle_call(std::move(exchange), target);
}

}  // namespace baton::server
