#include "server/pipeline/pipeline.h"

#include <algorithm>

#include "json/writer.h"
#include "server/a2a/cards.h"
#include "server/a2a/json_rpc.h"
#include "server/a2a/rest.h"
#include "server/admission/access.h"
#include "server/admission/admit_by_body.h"
#include "server/admission/hosts.h"
#include "server/admission/page_tokens.h"
#include "server/admission/resource_metadata.h"
#include "server/chat/conversation_events.h"
#include "server/chat/conversation_paths.h"
#include "server/console/console.h"
#include "server/discovery/discovery.h"
#include "server/mcp/mcp.h"
#include "server/openai/openai.h"
#include "server/pipeline/metrics.h"
#include "server/shared/answers.h"
#include "server/show/plan_views.h"

namespace baton::server {
namespace {

constexpr std::string_view kNoDefault =
    "there is no default agent: use /agents/<name>/; GET /agents lists the agents";
constexpr std::string_view kNothing = "nothing is served at this path";
constexpr std::string_view kWrongOrigin =
    "web pages of this origin may not call this server: add it to the setting cors.origins";
constexpr std::string_view kTokensWait = "too many tokens wait to be checked";
constexpr std::size_t kSmallBody = 16 << 10;

http::Reply method_not_allowed(std::string_view allow) {
  http::Reply reply = plain_error(405, "this path only supports " + std::string(allow));
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

// Returns an empty match for a path of callers.
PathMatch find_operators(const http::Request& request) {
  return find_path(paths_at(Place::operators), request.method, request.path);
}

}  // namespace

http::Hooks Pipeline::hooks() const {
  http::Hooks hooks;
  hooks.answer_at_once = [this](const http::Request& request) {
    return health(request.method, request.path);
  };
  // Reading a small request takes less time than waking another thread; checking a signature takes more.
  hooks.runs_on_loop = [this](const http::Request& request) {
    return request.body.size() <= kSmallBody && has_quick_token(services_.options, request);
  };
  hooks.may_send_body = [this](const http::Request& head,
                               http::Decide decide) -> std::optional<http::LargeBody> {
    using http::LargeBody;
    const ServerOptions& options = services_.options;
    // A token that was checked is quick. The others need keys that do not come, or too many tokens wait.
    const auto decision = [&options](const http::Request& checked) {
      if (may_send_body(options, checked)) return LargeBody::allowed;
      return has_quick_token(options, checked) ? LargeBody::refused : LargeBody::unclear;
    };
    if (has_quick_token(options, head)) return decision(head);
    const auto kept = std::make_shared<const http::Request>(head);
    switch (await(head, [=] { decide(decision(*kept)); })) {
      case TokenSource::Wait::begun:
        return std::nullopt;
      case TokenSource::Wait::none:
        return decision(head);
      case TokenSource::Wait::full:
        break;
    }
    return LargeBody::unclear;
  };
  if (const AnswerBudget* answers = services_.answers)
    hooks.others_wait = [answers] { return answers->lacks_room(); };
  return hooks;
}

http::Reply Pipeline::connection_error(const http::Request& request, int status,
                                       std::string_view reason) const {
  if (find_operators(request).row != nullptr) return operator_error(request, status, reason);
  http::Reply reply = protocol_error(request, status, reason);
  for (auto& header : cors_headers(services_.options, request)) reply.headers.push_back(std::move(header));
  // The head may have been given up before its Origin came. These errors tell nothing that a page may not
  // read.
  const bool is_cut = (status == 431 || status == 408) && request.header("Origin").empty();
  if (is_cut && services_.options.cors) reply.headers.emplace_back("Access-Control-Allow-Origin", "*");
  return reply;
}

http::Reply Pipeline::operator_error(const http::Request& request, int status, std::string_view reason) {
  return find_operators(request).is(Stage::operator_api) ? operate::error_reply(status, reason)
                                                         : plain_error(status, reason);
}

// Errors on the paths of A2A and of OpenAI's API have their form. All others are plain errors, also those of
// the chat protocols.
http::Reply Pipeline::protocol_error(const http::Request& request, int status,
                                     std::string_view reason) const {
  http::Reply reply = plain_error(status, reason);
  const bool is_known = !request.path.empty() && is_open_.load(std::memory_order_acquire) &&
                        host_is_served(services_.options, request);
  if (is_known && find_path(paths_at(Place::root), request.method, request.path).answered_by<OpenAiRoute>())
    return openai::error_reply({code_of_status(status), std::string(reason), {}}, status);
  const Target target = is_known ? target_of(request) : Target();
  if (target.agent == nullptr) return reply;
  const base::Error error{code_of_status(status), std::string(reason), {}};
  const PathMatch found = find_below(target, request.method);
  if (!found.allowed) return reply;
  const bool is_rest = found.answered_by<RestOperation>() != nullptr;
  if (!is_rest && !found.is(Stage::json_rpc)) return reply;
  return is_rest ? a2a::rest_refusal(request, a2a::rest_target(found), error, status)
                 : a2a::rpc_refusal(request, error, status);
}

Pipeline::ExchangePtr Pipeline::run_first_stages(std::shared_ptr<http::Exchange> way_back,
                                                 bool for_operators) const {
  auto exchange = std::make_shared<ObservedExchange>(services_, std::move(way_back));
  if (for_operators) exchange->leave_headers();
  const http::Request& request = exchange->request();
  if (auto healthy = health(request.method, request.path)) {
    exchange->reply(std::move(*healthy));
    return nullptr;
  }
  if (host_is_served(for_operators ? *operator_options_ : services_.options, request)) return exchange;
  note_refusal(request, "its Host header names a host that is not served here (hosts)");
  exchange->leave_headers();  // the error has them
  exchange->reply(
      for_operators
          ? operator_error(request, 403, "this host name is not served here")
          : connection_error(request, 403, "this host name is not served here: add it to the setting hosts"));
  return nullptr;
}

void Pipeline::handle(std::shared_ptr<http::Exchange> way_back) const {
  const ExchangePtr exchange = run_first_stages(std::move(way_back), false);
  if (!exchange) return;
  const http::Request& request = exchange->request();
  // Operators' paths come before the preflight, and without the headers that let other origins read an
  // answer.
  const bool is_preflight = request.method == "OPTIONS";
  const PathMatch found = find_operators(request);
  const bool is_for_operator = found.row != nullptr;
  if (is_preflight || is_for_operator) exchange->leave_headers();
  if (found.is(Stage::sign_in)) return serve_sign_in(exchange, services_.options);
  if (is_for_operator) {
    if (operators_ && operators_with_callers_) return serve_operators(exchange, services_.options);
    return exchange->reply(operator_error(request, 404, kNothing));
  }
  if (is_preflight) return exchange->reply(preflight(services_.options, request));
  if (services_.options.jwt && wait_for_token(exchange, [this, exchange] { route(exchange); })) return;
  route(exchange);
}

// The stage token, for servers with issuers. Returns false if there is nothing to wait for; else calls
// `next` later.
bool Pipeline::wait_for_token(const ExchangePtr& exchange, const std::function<void()>& next) const {
  const http::Request& request = exchange->request();
  // The thread that calls this may not block; the loop's finds a worker.
  const auto waits =
      await(request, [exchange, next] { exchange->on_loop([exchange, next] { exchange->block(next); }); });
  if (waits != TokenSource::Wait::full) return waits == TokenSource::Wait::begun;
  exchange->leave_headers();  // the error has them
  http::Reply reply = connection_error(request, 503, std::string(kTokensWait) + "; try again later");
  const auto is_retry = [](const auto& header) { return header.first == "Retry-After"; };
  if (std::ranges::none_of(reply.headers, is_retry)) reply.headers.emplace_back("Retry-After", "1");
  exchange->reply(std::move(reply));
  return true;
}

TokenSource::Wait Pipeline::await(const http::Request& head, std::function<void()> done) const {
  const auto waits = await_token(services_.options, head, std::move(done));
  if (waits == TokenSource::Wait::full) note_refusal(head, kTokensWait);
  return waits;
}

void Pipeline::handle_operator(std::shared_ptr<http::Exchange> way_back) const {
  const ExchangePtr exchange = run_first_stages(std::move(way_back), true);
  if (!exchange) return;
  const PathMatch found = find_operators(exchange->request());
  if (found.is(Stage::sign_in)) return serve_sign_in(exchange, *operator_options_);
  if (found.row != nullptr) return serve_operators(exchange, *operator_options_);
  exchange->reply(plain_error(404, kNothing));
}

// The stages origin, authenticate and call of operators. No page of another origin gets an answer.
void Pipeline::serve_operators(const ExchangePtr& exchange, const ServerOptions& options) const {
  const http::Request& request = exchange->request();
  if (!is_of_own_page(options, request)) {
    note_refusal(request, "web pages of other origins may not call the operator API");
    return exchange->reply(
        operate::error_reply(403, "web pages of other origins may not call the operator API"));
  }
  if (find_operators(request).is(Stage::console)) return exchange->reply(console::reply_to(request));
  if (!is_open_.load(std::memory_order_acquire))
    return exchange->reply(operate::error_reply(503, "starting"));
  const auto call = [this, exchange, &options] { call_operator(exchange, options); };
  if (!options.jwt || !wait_for_token(exchange, call)) call();
}

// For everybody, as nobody has a token yet.
void Pipeline::serve_sign_in(const ExchangePtr& exchange, const ServerOptions& options) const {
  const PathMatch found = find_operators(exchange->request());
  if (!found.allowed) return exchange->reply(method_not_allowed(found.allow));
  if (!is_open_.load(std::memory_order_acquire)) return exchange->reply(plain_error(503, "starting"));
  if (sign_in_ != nullptr) return sign_in_->handle(exchange, options);
  const bool is_question = exchange->request().path == sign_in::kSessionPath;
  exchange->reply(is_question ? sign_in::no_sign_in() : plain_error(404, kNothing));
}

void Pipeline::call_operator(const ExchangePtr& exchange, const ServerOptions& options) const {
  const http::Request& request = exchange->request();
  const auto by = authenticate_operator(options, request);
  if (by) {
    exchange->use_reserve();  // so that callers' streams cannot keep operators out
    return operators_->handle(exchange, *by);
  }
  refuse_caller(request, by.error(),
                [exchange, error = by.error()] { exchange->reply(operate::error_reply(error)); });
}

void Pipeline::route(const ExchangePtr& exchange) const {
  const http::Request& request = exchange->request();
  PathMatch found = find_path(paths_at(Place::root), request.method, request.path);
  if (found.is(Stage::chat_page) && !services_.options.chat.page) found = {};
  // Other methods of the start page's path are the default agent's.
  const std::string start_allows =
      found.is(Stage::start_page) && !found.allowed ? found.allow : std::string();
  if (!start_allows.empty()) found = {};
  const bool is_for_probes = found.is(Stage::is_alive) || found.is(Stage::is_healthy) ||
                             found.is(Stage::is_ready) || found.is(Stage::metrics);
  if (!is_for_probes && !is_open_.load(std::memory_order_acquire))
    return exchange->reply(plain_error(503, "starting"));
  if (found.answered_by<Stage>() != nullptr) return serve_root(exchange, found);
  if (found.answered_by<OpenAiRoute>() != nullptr) return serve_openai(exchange, found);
  Target target = target_of(request);
  if (found.row != nullptr) {  // a path of the root that names an agent
    target.agent = agent_named(found["agent"]);
    target.at_root = false;
    target.is_default = target.agent && target.agent == services_.catalogue.default_agent();
  } else if (target.agent) {
    found = find_below(target, request.method);
    if (!found.allowed && !start_allows.empty()) found.allow = start_allows + ", " + found.allow;
  }
  if (!target.agent) {
    return exchange->reply(plain_error(404, target.at_root ? kNoDefault : "agent not found"));
  }
  if (found.row == nullptr) return exchange->reply(plain_error(404, kNothing));
  target.scope = scope_of(found, request.method);
  serve_agent(exchange, target, found);
}

void Pipeline::serve_root(const ExchangePtr& exchange, const PathMatch& found) const {
  if (found.is(Stage::mcp)) return serve_mcp(exchange, found);
  if (!found.allowed) return exchange->reply(method_not_allowed(found.allow));
  switch (*found.answered_by<Stage>()) {
    case Stage::metrics:
      return exchange->block(
          [this, exchange] { exchange->reply(text(200, metrics_of(services_, http_counts_))); });
    case Stage::agents:
      return exchange->block([this, exchange] { serve_agents(exchange); });
    case Stage::tokens:
      return serve_tokens(exchange);
    case Stage::server_card:
      return serve_server_card(exchange, nullptr);
    case Stage::catalog:
      return serve_catalog(exchange);
    case Stage::card_keys:
      exchange->leave_headers();
      return exchange->reply(card_keys_reply(services_, exchange->request()));
    case Stage::resource:
      return serve_resource(exchange, found["path"]);
    case Stage::start_page:
      return serve_start(exchange);
    case Stage::chat_page:
      exchange->leave_headers();
      return exchange->reply(console::reply_to(exchange->request()));
    default:  // health checks have been answered
      return exchange->reply(plain_error(404, kNothing));
  }
}

void Pipeline::serve_agent(const ExchangePtr& exchange, const Target& target, const PathMatch& found) const {
  const bool is_extended = found.is(Stage::extended_card);
  const bool needs_card =
      found.is(Stage::card) || found.is(Stage::server_card) || found.is(Stage::plan) || is_extended;
  if (is_extended && !found.allowed) return exchange->reply(plain_error(404, kNothing));
  if (needs_card && services_.catalogue.find(target.agent->name) == nullptr)
    return exchange->reply(plain_error(503, kServedElsewhere));
  if (found.is(Stage::mcp)) return serve_agent_mcp(exchange, target, found);
  if (!found.allowed) return exchange->reply(method_not_allowed(found.allow));
  if (found.is(Stage::json_rpc)) return serve_json_rpc(exchange, target);
  if (found.answered_by<RestOperation>()) return serve_rest(exchange, target, a2a::rest_target(found));
  if (const auto* chat = found.answered_by<ChatProtocol>()) return serve_chat(exchange, target, *chat);
  if (found.is(Stage::conversations))
    return serve_conversations(exchange, target, found["id"], &chat::handle_conversations);
  if (found.is(Stage::conversation_events))
    return serve_conversations(exchange, target, found["id"], &chat::handle_conversation_events);
  if (found.is(Stage::card)) return serve_card(exchange, target);
  if (found.is(Stage::server_card)) return serve_server_card(exchange, target.agent);
  if (found.is(Stage::plan)) return serve_plan(exchange, target);
  serve_extended_card(exchange, target);
}

PathMatch Pipeline::find_below(const Target& target, std::string_view method) {
  PathMatch found = find_path(paths_at(Place::agent), method, target.rest);
  if (found.row != nullptr) return found;
  return find_path(paths_at(Place::agent_ids), method, target.raw_rest);
}

// Never finds a hidden agent: the name of one is no valid agent name.
const agents::Agent* Pipeline::agent_named(std::string_view name) const {
  if (!agents::is_agent_name(name)) return nullptr;
  const agents::Agent* const here = services_.catalogue.find({std::string(name)});
  return here != nullptr ? here : services_.catalogue.on_other_node({std::string(name)});
}

Pipeline::Target Pipeline::target_of(const http::Request& request) const {
  const std::string_view path = request.path, raw = request.raw_path;
  const agents::Agent* const first = services_.catalogue.default_agent();
  if (!path.starts_with(kAgents)) return {{first, true, base_url_, true}, path, raw};
  const std::string_view after = path.substr(kAgents.size());
  const std::size_t end = std::min(after.find('/'), after.size());
  const std::string_view prefix = path.substr(0, kAgents.size() + end);
  // Names need no percent-encoding; if one is encoded anyway, the decoded rest is used.
  const std::string_view raw_rest = raw.starts_with(prefix) ? raw.substr(prefix.size()) : after.substr(end);
  const agents::Agent* const agent = agent_named(after.substr(0, end));
  return {{agent, false, base_url_, agent && agent == first}, after.substr(end), raw_rest};
}

base::Result<Admitted> Pipeline::admit(const http::Request& head) const {
  if (!is_open_.load(std::memory_order_acquire)) return base::fail(base::ErrorCode::unavailable, "starting");
  if (!host_is_served(services_.options, head)) {
    note_refusal(head, "its Host header names a host that is not served here (hosts)");
    return base::fail(base::ErrorCode::permission_denied, "this host name is not served here");
  }
  const Target target = target_of(head);
  if (!target.agent) return Admitted{services_, target, {}};
  auto caller = identify(services_.options, head, target.agent->name);
  if (caller) {
    Admitted by{services_,
                target,
                std::move(caller->caller),
                {},
                std::move(caller->child_agents),
                caller->scopes,
                std::move(caller->subject)};
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

std::optional<http::Reply> Pipeline::health(std::string_view method, std::string_view target) const {
  const auto found = find_path(paths_at(Place::root), method, target.substr(0, target.find('?')));
  if (!found.allowed) return std::nullopt;
  if (found.is(Stage::is_alive)) return text(200, "ok\n");
  if (found.is(Stage::is_ready)) return readiness();
  if (!found.is(Stage::is_healthy)) return std::nullopt;
  http::Reply healthy;
  healthy.body = R"({"status":"healthy"})";
  return healthy;
}

// Ready even if agents were left out, or are not the same on all nodes: the others are served.
http::Reply Pipeline::readiness() const {
  if (!ready_) return text(503, nodes_ && nodes_->is_draining() ? "not ready: draining\n" : "not ready\n");
  if (!services_.engine.store_is_writable()) return text(503, "not ready: the store cannot be written\n");
  std::string body = "ready\n";
  for (const agents::Catalogue::CardReport& one : services_.catalogue.left_out())
    body += "left out: " + one.folder + " (its card is invalid; for the reason, see the log)\n";
  for (const agents::Catalogue::CardReport& one : services_.catalogue.outdated())
    body += "unchanged: " + one.folder + " (its card is now invalid; for the reason, see the log)\n";
  if (const std::size_t turns = services_.engine.quarantined(); turns > 0)
    body += "quarantined turns: " + std::to_string(turns) + " (the server crashed while they ran)\n";
  if (nodes_) body += nodes_->remarks();
  if (remarks_) body += remarks_();
  return text(200, std::move(body));
}

void Pipeline::note_refusal(const http::Request& request, std::string_view reason) const {
  refusals_.record(client_address(services_.options, request), reason, std::chrono::steady_clock::now());
}

bool Pipeline::admits_origin(const http::Request& request) const {
  if (origin_may_call(services_.options, request)) return true;
  note_refusal(request, "web pages of its origin may not call (cors.origins)");
  return false;
}

std::chrono::milliseconds Pipeline::note_wrong_token(const http::Request& request,
                                                     const base::Error& error) const {
  // Only unknown tokens count: not a missing one, nor a valid one for another agent.
  const bool tried =
      error.code == base::ErrorCode::unauthenticated && brings_token(services_.options, request);
  if (error.code == base::ErrorCode::unavailable) {
    note_refusal(request, "its token cannot be checked: the keys of its issuer are missing");
    return std::chrono::milliseconds(0);
  }
  if (!tried) {
    const bool has_token = error.code == base::ErrorCode::permission_denied;
    note_refusal(request, has_token ? "its token is valid, but not for this" : "it has no valid token");
    return std::chrono::milliseconds(0);
  }
  return wrong_tokens_.noted(client_address(services_.options, request), error.for_log,
                             std::chrono::steady_clock::now());
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
  if (!admits_origin(request)) {
    exchange->reply(plain_error(403, kWrongOrigin));
    return std::nullopt;
  }
  auto caller = identify(services_.options, request, target.agent->name);
  if (caller && target.scope && !caller->scopes.has(*target.scope)) {
    note_refusal(request, "its token lacks the scope");
    refuse(lacks(*target.scope));
    return std::nullopt;
  }
  if (caller) {
    if (exchange->note()) exchange->note()->came_from(caller->caller);
    return Admitted{services_,
                    target,
                    std::move(caller->caller),
                    exchange->note(),
                    std::move(caller->child_agents),
                    caller->scopes,
                    std::move(caller->subject)};
  }
  refuse_caller(request, caller.error(), [refuse, error = caller.error()] { refuse(error); });
  return std::nullopt;
}

void Pipeline::serve_start(const ExchangePtr& exchange) const {
  const http::Request& request = exchange->request();
  console::Served served;
  served.root = card_urls(services_.options, request, {nullptr, true, base_url_}).rest;
  served.chat = services_.options.chat.page;
  served.console = operators_ != nullptr && operators_with_callers_;
  http::Reply reply = console::start_reply(request, served);
  if (const std::string link = discovery::catalog_link(services_); !link.empty())
    reply.headers.emplace_back("Link", link);
  exchange->reply(std::move(reply));
}

// Both are for everybody, so every page may read them. They may have many entries.
void Pipeline::serve_catalog(const ExchangePtr& exchange) const {
  exchange->leave_headers();
  exchange->block(
      [this, exchange] { exchange->reply(discovery::catalog_reply(services_, exchange->request())); });
}

void Pipeline::serve_server_card(const ExchangePtr& exchange, const agents::Agent* agent) const {
  exchange->leave_headers();
  exchange->reply(discovery::server_card_reply(services_, exchange->request(), agent));
}

// For everybody, like cards.
void Pipeline::serve_resource(const ExchangePtr& exchange, std::string_view path) const {
  exchange->leave_headers();
  const std::string whole = path.empty() ? std::string() : "/" + std::string(path);
  const bool is_agents = whole.starts_with(kAgents);
  const std::string resource = resource_path(whole);
  const std::string_view name = is_agents ? std::string_view(resource).substr(kAgents.size()) : "";
  const agents::Agent* const agent = is_agents ? agent_named(name.substr(0, name.find('/'))) : nullptr;
  if (!services_.options.jwt || resource != whole || (is_agents && agent == nullptr))
    return exchange->reply(plain_error(404, kNothing));
  exchange->reply(metadata_reply(services_.options, exchange->request(), resource,
                                 agent == nullptr ? std::string() : agent->shown_card()->name));
}

void Pipeline::serve_agents(const ExchangePtr& exchange) const {
  const http::Request& request = exchange->request();
  if (!admits_origin(request)) return exchange->reply(plain_error(403, kWrongOrigin));
  if (const auto error = refused_everywhere(services_, request))
    return refuse_caller(request, *error, [exchange, error = *error] { exchange->reply(refusal(error)); });
  exchange->reply(agents_reply(services_, request, base_url_));
}

// Refuses pages of other origins, because a page has no token of its own.
void Pipeline::serve_tokens(const ExchangePtr& exchange) const {
  const http::Request& request = exchange->request();
  if (!is_of_own_page(services_.options, request)) {
    note_refusal(request, "web pages of other origins may not request page tokens");
    return exchange->reply(plain_error(403, "web pages of other origins may not request page tokens"));
  }
  const auto refuse = [&](const base::Error& error) {
    refuse_caller(request, error, [exchange, error] { exchange->reply(refusal(error)); });
  };
  const auto by = page_source(services_.options, request);
  if (!by) return refuse(by.error());
  const auto grant = read_page_grant(request.body, *by, base::SystemClock().now());
  if (!grant && grant.error().code == base::ErrorCode::unauthenticated) return refuse(grant.error());
  const auto token = grant ? make_page_token(services_.options, *grant, *by)
                           : base::Result<std::string>(base::fail(grant.error()));
  if (!token) return exchange->reply(plain_error(400, token.error().for_caller));
  http::Reply reply;
  reply.headers.emplace_back("Cache-Control", "no-store");
  json::Writer out(reply.body);
  out.object([&] {
    out.member("token", *token);
    out.member("expiresAt", base::to_rfc3339(grant->until));
  });
  exchange->reply(std::move(reply));
}

void Pipeline::serve_card(const ExchangePtr& exchange, const Target& target) const {
  const auto answer = [this, exchange, target] {
    const CardUrls urls = card_urls(services_.options, exchange->request(), target);
    exchange->reply(card_reply(services_, exchange->request(), *target.agent, urls));
  };
  if (target.agent->card_text.size() > kSmallBody) return exchange->block(answer);
  answer();
}

// Only for admitted callers, because the plan shows more than the card.
void Pipeline::serve_plan(const ExchangePtr& exchange, const Target& target) const {
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

void Pipeline::serve_chat(const ExchangePtr& exchange, const Target& target, const ChatProtocol& chat) const {
  exchange->reached(*target.agent, chat.speaks);
  auto by =
      admitted(exchange, target, [exchange](const base::Error& error) { exchange->reply(refusal(error)); });
  if (!by) return;
  exchange->block([this, exchange, by = std::move(*by), handler = chat.handle] {
    chat::handle(*claims_, exchange, by, handler);
  });
}

void Pipeline::serve_conversations(const ExchangePtr& exchange, const Target& target, std::string_view id,
                                   ConversationHandler handler) const {
  if (exchange->request().body.size() > kSmallBody)
    return exchange->reply(plain_error(413, "the body is too large"));
  exchange->reached(*target.agent, Protocol::other);
  auto by =
      admitted(exchange, target, [exchange](const base::Error& error) { exchange->reply(refusal(error)); });
  if (!by) return;
  exchange->block([exchange, by = std::move(*by), context = task::ContextId{std::string(id)}, handler] {
    handler(exchange, by, context);
  });
}

// The agent is named in the body: the head only shows that the caller may use some agent. The caller is
// checked before the method, because Gemini CLI sends HEAD and reads the challenge of the 401.
void Pipeline::serve_mcp(const ExchangePtr& exchange, const PathMatch& found) const {
  const http::Request& request = exchange->request();
  if (!admits_origin(request)) return exchange->reply(plain_error(403, kWrongOrigin));
  if (const auto error = refused_everywhere(services_, request))
    return refuse_caller(request, *error, [exchange, error = *error] { exchange->reply(refusal(error)); });
  if (!found.allowed) return exchange->reply(method_not_allowed(found.allow));
  const auto reached = [exchange](const agents::Agent& agent) { exchange->reached(agent, Protocol::mcp); };
  mcp::handle(exchange,
              {{services_, base_url_, exchange->note()}, std::nullopt, reached, running_, list_changes_});
}

// As for MCP: the body names the agent, or an id the task.
void Pipeline::serve_openai(const ExchangePtr& exchange, const PathMatch& found) const {
  const http::Request& request = exchange->request();
  if (!found.allowed) {
    http::Reply reply = openai::error_reply(
        {base::ErrorCode::method_not_found, "this path only supports " + found.allow, {}}, 405);
    reply.headers.emplace_back("Allow", found.allow);
    return exchange->reply(std::move(reply));
  }
  if (!admits_origin(request))
    return exchange->reply(
        openai::error_reply({base::ErrorCode::permission_denied, std::string(kWrongOrigin), {}}));
  if (const auto error = refused_everywhere(services_, request))
    return refuse_caller(request, *error,
                         [exchange, error = *error] { exchange->reply(openai::error_reply(error)); });
  const auto scope = scope_of(found, request.method);
  if (scope && !scopes_of(services_.options, request).has(*scope)) {
    note_refusal(request, "its token lacks the scope");
    return exchange->reply(openai::error_reply(lacks(*scope)));
  }
  exchange->block([this, exchange, found] {
    const auto reached = [exchange](const agents::Agent& agent) {
      exchange->reached(agent, Protocol::openai);
    };
    openai::handle(exchange, {{services_, base_url_, exchange->note()}, *claims_, reached}, found);
  });
}

// As for MCP at the root, the caller is checked before the method.
void Pipeline::serve_agent_mcp(const ExchangePtr& exchange, const Target& target,
                               const PathMatch& found) const {
  exchange->reached(*target.agent, Protocol::mcp);
  auto by =
      admitted(exchange, target, [exchange](const base::Error& error) { exchange->reply(refusal(error)); });
  if (!by) return;
  if (!found.allowed) return exchange->reply(method_not_allowed(found.allow));
  mcp::handle(exchange, {{services_, base_url_}, std::move(*by), {}, running_, list_changes_});
}

void Pipeline::serve_json_rpc(const ExchangePtr& exchange, const Target& target) const {
  exchange->reached(*target.agent, Protocol::json_rpc);
  auto by = admitted(exchange, target,
                     [exchange](const base::Error& error) { a2a::refuse_json_rpc(*exchange, error); });
  if (by) a2a::handle_json_rpc(exchange, std::move(*by));
}

void Pipeline::serve_rest(const ExchangePtr& exchange, const Target& target,
                          const a2a::RestTarget& rest) const {
  exchange->reached(*target.agent, Protocol::rest);
  auto by = admitted(exchange, target, [this, exchange, target, rest](const base::Error& error) {
    a2a::refuse_rest(exchange, {services_, target, {}}, rest, error);
  });
  if (by) a2a::handle_rest(exchange, std::move(*by), rest);
}

}  // namespace baton::server
