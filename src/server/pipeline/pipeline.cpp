#include "server/pipeline/pipeline.h"

#include <algorithm>

#include "json/writer.h"
#include "server/a2a/cards.h"
#include "server/a2a/json_rpc.h"
#include "server/a2a/rest.h"
#include "server/admission/access.h"
#include "server/admission/hosts.h"
#include "server/admission/page_tokens.h"
#include "server/console/console.h"
#include "server/pipeline/metrics.h"
#include "server/shared/answers.h"
#include "server/show/plan_views.h"

namespace baton::server {
namespace {

constexpr std::string_view kCard = "/.well-known/agent-card.json";
constexpr std::string_view kOldCard = "/.well-known/agent.json";  // until A2A 0.2
constexpr std::string_view kHostedAgents = "/v1/aibot/bots/";     // of AG-Kit
constexpr std::string_view kNoDefault =
    "no agent is the default one; GET /agents lists them, each at /agents/<name>/";
constexpr std::string_view kV02ExtendedCard = "/agent/authenticatedExtendedCard";
constexpr std::string_view kPlan = "/plan.svg";
constexpr std::string_view kMetrics = "/metrics", kTokens = "/tokens";
constexpr std::size_t kSmallBody = 16 << 10;

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

base::ErrorCode code_of(int status) {
  using base::ErrorCode;
  switch (status) {
    case 401:
      return ErrorCode::unauthenticated;
    case 403:
      return ErrorCode::permission_denied;
    case 408:
      return ErrorCode::deadline_exceeded;
    case 413:
    case 414:
    case 431:
      return ErrorCode::too_large;
    case 415:
      return ErrorCode::content_type_not_supported;
    case 429:
      return ErrorCode::overloaded;
    case 503:
      return ErrorCode::unavailable;
    default:
      return status < 500 ? ErrorCode::invalid_request : ErrorCode::internal;
  }
}

bool reads(const http::Request& request) {
  return request.method == "GET" || request.method == "HEAD";
}

bool is_for_operators(std::string_view path) {
  return operate::serves(path) || console::serves(path);
}

}  // namespace

http::Hooks Pipeline::hooks() const {
  http::Hooks hooks;
  hooks.answer_at_once = [this](const http::Request& request) {
    return health(request.method, request.path);
  };
  // Reading a small request takes less time than another thread's wake-up.
  hooks.runs_on_loop = [](const http::Request& request) { return request.body.size() <= kSmallBody; };
  hooks.may_send_body = [this](const http::Request& head) { return may_send_body(services_.options, head); };
  return hooks;
}

http::Reply Pipeline::connection_error(const http::Request& request, int status,
                                       std::string_view reason) const {
  if (is_for_operators(request.path)) return operator_error(request, status, reason);
  http::Reply reply = protocol_error(request, status, reason);
  for (auto& header : cors_headers(services_.options, request)) reply.headers.push_back(std::move(header));
  return reply;
}

http::Reply Pipeline::operator_error(const http::Request& request, int status, std::string_view reason) {
  return operate::serves(request.path) ? operate::error_reply(status, reason) : plain_error(status, reason);
}

// In the form of A2A on its paths; the chat protocols have the same form as everything else.
http::Reply Pipeline::protocol_error(const http::Request& request, int status,
                                     std::string_view reason) const {
  http::Reply reply = plain_error(status, reason);
  const bool is_known = !request.path.empty() && is_open_.load(std::memory_order_acquire) &&
                        host_is_served(services_.options, request);
  const Target target = is_known ? target_of(request) : Target();
  if (target.agent == nullptr) return reply;
  const base::Error error{code_of(status), std::string(reason), {}};
  const auto rest = target.is_rpc() ? std::nullopt : a2a::match_rest(request.method, target.raw_rest);
  if (target.is_rpc() && request.method == "POST") {
    reply.body = a2a::rpc_refusal(request, error, status).body;
  } else if (rest && rest->operation && !chat::find_door(target.rest)) {
    http::Reply other = a2a::rest_refusal(request, *rest, error, status);
    reply.content_type = std::move(other.content_type);
    reply.body = std::move(other.body);
  }
  return reply;
}

void Pipeline::handle(std::shared_ptr<http::Exchange> way_back) const {
  const auto exchange = std::make_shared<ObservedExchange>(services_, std::move(way_back));
  const http::Request& request = exchange->request();
  if (auto healthy = health(request.method, request.path)) return exchange->reply(std::move(*healthy));
  if (!host_is_served(services_.options, request)) {
    note_refusal(request, "the host that it named is not served here");
    exchange->leave_headers();  // the error has them
    return exchange->reply(connection_error(
        request, 403, "this host is not served here: the setting hosts lists those that are"));
  }
  // Before the preflight, and without the headers that let other origins read an answer.
  const bool is_preflight = request.method == "OPTIONS", is_for_operator = is_for_operators(request.path);
  if (is_preflight || is_for_operator) exchange->leave_headers();
  if (is_for_operator) {
    if (operators_ && operators_with_callers_) return serve_operators(exchange, services_.options);
    return exchange->reply(operator_error(request, 404, "nothing is served at this path"));
  }
  if (is_preflight) return exchange->reply(preflight(services_.options, request));
  route(exchange);
}

void Pipeline::handle_operator(std::shared_ptr<http::Exchange> way_back) const {
  const auto exchange = std::make_shared<ObservedExchange>(services_, std::move(way_back));
  exchange->leave_headers();
  const http::Request& request = exchange->request();
  if (auto healthy = health(request.method, request.path)) return exchange->reply(std::move(*healthy));
  if (!host_is_served(*operator_options_, request)) {
    note_refusal(request, "the host that it named is not served here");
    return exchange->reply(operator_error(request, 403, "this host is not served here"));
  }
  if (is_for_operators(request.path)) return serve_operators(exchange, *operator_options_);
  exchange->reply(plain_error(404, "nothing is served at this path"));
}

// The stages origin, authenticate and call of operators. No page of another origin gets an answer.
void Pipeline::serve_operators(const ExchangePtr& exchange, const ServerOptions& options) const {
  const http::Request& request = exchange->request();
  if (!is_of_own_page(options, request)) {
    note_refusal(request, "pages of its origin may not call");
    return exchange->reply(
        operate::error_reply(403, "permission_denied", "pages of other origins may not call"));
  }
  if (console::serves(request.path)) return exchange->reply(console::reply_to(request));
  if (!is_open_.load(std::memory_order_acquire))
    return exchange->reply(operate::error_reply(503, "unavailable", "starting"));
  const auto who = authenticate_operator(options, request);
  if (who) {
    exchange->use_reserve();  // callers' streams keep no operator out
    return operators_->handle(exchange, *who);
  }
  refuse_caller(request, who.error(),
                [exchange, error = who.error()] { exchange->reply(operate::error_reply(error)); });
}

void Pipeline::route(const ExchangePtr& exchange) const {
  const http::Request& request = exchange->request();
  if (request.path == kMetrics && reads(request)) {
    return exchange->block(
        [this, exchange] { exchange->reply(text(200, metrics_of(services_, http_counts_))); });
  }
  if (request.path == kMetrics || health_at(request.path)) return exchange->reply(method_not_allowed("GET"));
  if (!is_open_.load(std::memory_order_acquire)) return exchange->reply(plain_error(503, "starting"));
  if (request.path == "/agents" || request.path == kAgents) {
    return exchange->block([this, exchange] { serve_agents(exchange); });
  }
  if (request.path == kTokens) return serve_tokens(exchange);
  if (services_.options.chat.page && console::serves_chat(request.path)) {
    exchange->leave_headers();
    return exchange->reply(console::reply_to(request));
  }
  const Target target = target_of(request);
  if (!target.agent) {
    return exchange->reply(plain_error(404, target.at_root ? kNoDefault : "no such agent"));
  }
  const bool is_card = target.rest == kCard || target.rest == kOldCard, is_plan = target.rest == kPlan;
  const bool is_extended = target.rest == kV02ExtendedCard && reads(request);
  if ((is_card || is_plan || is_extended) && services_.catalogue.find(target.agent->name) == nullptr)
    return exchange->reply(plain_error(503, "another node serves this agent, try again"));
  if (is_card) return serve_card(exchange, target);
  if (is_plan) return serve_plan(exchange, target);
  if (is_extended) return serve_extended_card(exchange, target);
  if (const chat::Door door = chat::find_door(target.rest)) return serve_chat(exchange, target, door);
  if (const auto path = target.is_rpc() ? std::nullopt : chat::read_conversation_path(target.raw_rest))
    return serve_conversations(exchange, target, *path);
  serve_call(exchange, target);
}

Pipeline::Target Pipeline::target_of(const http::Request& request) const {
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
  // Hidden agents have other names.
  const std::string name(after.substr(0, end));
  const bool may_be = agents::is_agent_name(name);
  const agents::Agent* agent = may_be ? services_.catalogue.find({name}) : nullptr;
  if (may_be && agent == nullptr) agent = services_.catalogue.on_other_node({name});
  return {{agent, false, base_url_, agent && agent == first}, after.substr(end), raw_rest};
}

base::Result<Admitted> Pipeline::admit(const http::Request& head) const {
  if (!is_open_.load(std::memory_order_acquire)) return base::fail(base::ErrorCode::unavailable, "starting");
  if (!host_is_served(services_.options, head)) {
    note_refusal(head, "the host that it named is not served here");
    return base::fail(base::ErrorCode::permission_denied, "this host is not served here");
  }
  const Target target = target_of(head);
  if (!target.agent) return Admitted{services_, target, {}};
  auto caller = identify(services_.options, head, target.agent->name);
  if (caller) {
    Admitted by{services_, target, std::move(caller->caller), {}, std::move(caller->child_agents)};
    if (!services_.watch) return by;
    by.note = std::make_shared<RequestNote>(services_.watch, head);
    by.note->reached(target.agent->name.value, Protocol::grpc);
    by.note->came_from(by.caller);
    return by;
  }
  // Only recorded: gRPC cannot delay an answer here.
  note_wrong_token(head, caller.error());
  return base::fail(caller.error());
}

std::optional<http::Reply> Pipeline::health_at(std::string_view path) const {
  if (path == "/healthz") return text(200, "ok\n");
  if (path == "/readyz") return readiness();
  if (path != "/health") return std::nullopt;
  http::Reply healthy;
  healthy.body = R"({"status":"healthy"})";
  return healthy;
}

std::optional<http::Reply> Pipeline::health(std::string_view method, std::string_view target) const {
  if (method != "GET" && method != "HEAD") return std::nullopt;
  return health_at(target.substr(0, target.find('?')));
}

// Ready even if agents were left out, or are not the same on all nodes: the others are served.
http::Reply Pipeline::readiness() const {
  if (!ready_) return text(503, nodes_ && nodes_->is_draining() ? "not ready: draining\n" : "not ready\n");
  if (!services_.engine.store_is_writable()) return text(503, "not ready: the store cannot be written\n");
  std::string body = "ready\n";
  for (const agents::Catalogue::CardReport& one : services_.catalogue.left_out())
    body += "left out: " + one.folder + " (its card is wrong; the log says why)\n";
  for (const agents::Catalogue::CardReport& one : services_.catalogue.outdated())
    body += "as it was: " + one.folder + " (its card is wrong now; the log says why)\n";
  if (const std::size_t turns = services_.engine.quarantined(); turns > 0)
    body += "quarantined turns: " + std::to_string(turns) + " (the server died while they ran)\n";
  if (nodes_) body += nodes_->remarks();
  return text(200, std::move(body));
}

void Pipeline::note_refusal(const http::Request& request, std::string_view reason) const {
  refusals_.note(client_address(services_.options, request), reason, std::chrono::steady_clock::now());
}

std::chrono::milliseconds Pipeline::note_wrong_token(const http::Request& request,
                                                     const base::Error& error) const {
  // Only unknown tokens count: not a missing one, nor a valid one for another agent.
  const auto in_query = [](const auto& member) { return member.first == "access_token"; };
  const bool names_token =
      !request.header("Authorization").empty() || std::ranges::any_of(request.query, in_query);
  const bool tried = error.code == base::ErrorCode::unauthenticated && names_token;
  if (!tried) {
    const bool has_token = error.code == base::ErrorCode::permission_denied;
    note_refusal(request, has_token ? "its token is not for this agent" : "it has no token");
    return std::chrono::milliseconds(0);
  }
  return wrong_tokens_.noted(client_address(services_.options, request), std::chrono::steady_clock::now());
}

template <class Refuse>
void Pipeline::refuse_caller(const http::Request& request, const base::Error& error, Refuse&& refuse) const {
  const auto wait = note_wrong_token(request, error);
  if (wait.count() == 0) return refuse();
  services_.engine.after(wait, std::forward<Refuse>(refuse));
}

template <class Refuse>
std::optional<Admitted> Pipeline::admitted(const ExchangePtr& exchange, const Target& target,
                                           Refuse&& refuse) const {
  const http::Request& request = exchange->request();
  if (!origin_may_call(services_.options, request)) {
    note_refusal(request, "pages of its origin may not call");
    exchange->reply(plain_error(403, "pages of this origin may not call"));
    return std::nullopt;
  }
  auto caller = identify(services_.options, request, target.agent->name);
  if (caller) {
    if (exchange->note()) exchange->note()->came_from(caller->caller);
    return Admitted{services_, target, std::move(caller->caller), exchange->note(),
                    std::move(caller->child_agents)};
  }
  refuse_caller(request, caller.error(), [refuse, error = caller.error()] { refuse(error); });
  return std::nullopt;
}

void Pipeline::serve_agents(const ExchangePtr& exchange) const {
  const http::Request& request = exchange->request();
  if (!reads(request)) return exchange->reply(method_not_allowed("GET"));
  if (!origin_may_call(services_.options, request)) {
    return exchange->reply(plain_error(403, "pages of this origin may not call"));
  }
  http::Reply answer = agents_reply(services_, request, base_url_);
  if (answer.status != 401) return exchange->reply(std::move(answer));
  refuse_caller(request, {base::ErrorCode::unauthenticated, {}, {}},
                [exchange, answer] { exchange->reply(answer); });
}

// Not by a page of another origin: a page has no token of its own.
void Pipeline::serve_tokens(const ExchangePtr& exchange) const {
  const http::Request& request = exchange->request();
  if (request.method != "POST") return exchange->reply(method_not_allowed("POST"));
  if (!is_of_own_page(services_.options, request))
    return exchange->reply(plain_error(403, "pages of other origins may not call"));
  const Token* const by = own_token(services_.options, request);
  if (by == nullptr) {
    const base::Error error{base::ErrorCode::unauthenticated, "a caller's own bearer token is needed", {}};
    return refuse_caller(request, error, [exchange, error] { exchange->reply(refusal(error)); });
  }
  const auto grant = read_page_grant(request.body, *by, base::SystemClock().now());
  if (!grant) return exchange->reply(plain_error(400, grant.error().for_caller));
  http::Reply reply;
  reply.headers.emplace_back("Cache-Control", "no-store");
  json::Writer out(reply.body);
  out.object([&] {
    out.member("token", make_page_token(*grant, by->secret));
    out.member("expiresAt", base::to_rfc3339(grant->until));
  });
  exchange->reply(std::move(reply));
}

void Pipeline::serve_card(const ExchangePtr& exchange, const Target& target) const {
  const http::Request& request = exchange->request();
  if (!reads(request)) return exchange->reply(method_not_allowed("GET"));
  const auto answer = [this, exchange, target] {
    const CardUrls urls = card_urls(services_.options, exchange->request(), target);
    exchange->reply(card_reply(services_, exchange->request(), *target.agent, urls));
  };
  if (target.agent->card_text.size() > kSmallBody) return exchange->block(answer);
  answer();
}

// For callers: it says more than the card.
void Pipeline::serve_plan(const ExchangePtr& exchange, const Target& target) const {
  if (!reads(exchange->request())) return exchange->reply(method_not_allowed("GET"));
  const auto by =
      admitted(exchange, target, [exchange](const base::Error& error) { exchange->reply(refusal(error)); });
  if (!by) return;
  exchange->block([exchange, target] {
    auto picture = plan_picture_of(*target.agent);
    exchange->reply(picture ? picture_reply(std::move(*picture)) : refusal(picture.error()));
  });
}

void Pipeline::serve_extended_card(const ExchangePtr& exchange, const Target& target) const {
  auto by =
      admitted(exchange, target, [exchange](const base::Error& error) { exchange->reply(refusal(error)); });
  if (!by) return;
  const auto answer = [this, exchange, target, caller = std::move(by->caller)] {
    const CardUrls urls = card_urls(services_.options, exchange->request(), target);
    auto card = extended_card(services_, *target.agent, caller, urls, protocol::CardView::superset);
    if (!card) return exchange->reply(refusal(card.error()));
    http::Reply reply;
    reply.body = std::move(*card);
    exchange->reply(std::move(reply));
  };
  if (target.agent->card_text.size() > kSmallBody) return exchange->block(answer);
  answer();
}

void Pipeline::serve_chat(const ExchangePtr& exchange, const Target& target, chat::Door door) const {
  if (exchange->request().method != "POST") return exchange->reply(method_not_allowed("POST"));
  exchange->reached(*target.agent, chat::protocol_of(target.rest));
  auto by =
      admitted(exchange, target, [exchange](const base::Error& error) { exchange->reply(refusal(error)); });
  if (!by) return;
  exchange->block(
      [this, exchange, by = std::move(*by), door] { chat::handle(*claims_, exchange, by, door); });
}

void Pipeline::serve_conversations(const ExchangePtr& exchange, const Target& target,
                                   const chat::ConversationPath& path) const {
  const http::Request& request = exchange->request();
  if (!chat::has_method(path, request.method)) return exchange->reply(method_not_allowed(path.methods));
  if (request.body.size() > kSmallBody) return exchange->reply(plain_error(413, "the body is too large"));
  exchange->reached(*target.agent, Protocol::other);
  auto by =
      admitted(exchange, target, [exchange](const base::Error& error) { exchange->reply(refusal(error)); });
  if (!by) return;
  exchange->block([this, exchange, agent = target.agent, caller = std::move(by->caller), path] {
    chat::handle_conversations(services_, exchange, {caller, agent->name, path.id});
  });
}

void Pipeline::serve_call(const ExchangePtr& exchange, const Target& target) const {
  const http::Request& request = exchange->request();
  const bool is_rpc = target.is_rpc();
  auto rest = is_rpc ? std::nullopt : a2a::match_rest(request.method, target.raw_rest);
  if (!is_rpc && !rest) return exchange->reply(plain_error(404, "nothing is served at this path"));
  if (is_rpc && request.method != "POST") return exchange->reply(method_not_allowed("POST"));
  if (rest && !rest->operation) return exchange->reply(method_not_allowed(rest->allow));
  exchange->reached(*target.agent, is_rpc ? Protocol::json_rpc : Protocol::rest);
  auto by = admitted(exchange, target, [this, exchange, target, rest](const base::Error& error) {
    if (rest) return a2a::refuse_rest(exchange, {services_, target, {}}, *rest, error);
    a2a::refuse_json_rpc(*exchange, error);
  });
  if (!by) return;
  if (is_rpc) return a2a::handle_json_rpc(exchange, std::move(*by));
  a2a::handle_rest(exchange, std::move(*by), *rest);
}

}  // namespace baton::server
