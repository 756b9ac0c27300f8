#include "server/a2a/cards.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "json/writer.h"
#include "server/a2a/card_signer.h"
#include "server/a2a/negotiation.h"
#include "server/admission/access.h"
#include "server/admission/hosts.h"
#include "server/shared/answers.h"
#include "server/shared/endpoint.h"
#include "server/show/conditional.h"
#include "server/show/own_tasks.h"

namespace baton::server {
namespace {

using base::ErrorCode;
using protocol::CardView;
using protocol::ServedCard;

ServedCard served_card(const Services& services, const task::AgentCard& card, const CardUrls& urls) {
  ServedCard served{card, urls.json_rpc, urls.rest, urls.grpc};
  served.push = services.engine.options().push_enabled;
  const ServerOptions& options = services.options;
  served.has_callers = options.has_callers();
  served.key_header = options.key_header;
  if (options.jwt) {
    for (const TokenSource::Issuer& each : options.jwt->issuers())
      served.discovery_urls.push_back(each.url + (each.url.ends_with('/') ? "" : "/") +
                                      ".well-known/openid-configuration");
  }
  if (!options.anonymous) {
    served.bearer = ServedCard::Bearer::required;
  } else if (served.has_callers) {
    served.bearer = ServedCard::Bearer::possible;
  }
  return served;
}

// The public card of 1.0, signed if there is a key. Without a public URL it would have another text for each
// host that callers name.
std::string newest_card(const Services& services, const agents::Agent& agent, const task::AgentCard& shown,
                        const CardUrls& urls) {
  std::string card = protocol::write_card(served_card(services, shown, urls), CardView::v1_0);
  const auto& signer = services.options.card_signer;
  if (!signer || services.options.public_url.empty()) return card;
  return signer->signed_card(agent.name.value, urls.json_rpc, std::move(card));
}

// 1.0 clients send the version in a header or the query. Any other value, even an unknown version, gets the
// card that every client can read.
CardView view_for(const http::Request& request) {
  const auto version = a2a::version_of(request);
  const bool is_v1 = version && *version == task::ProtocolVersion::v1_0;
  return is_v1 ? CardView::v1_0 : CardView::superset;
}

// gRPC has no paths: its calls are for the default agent.
std::string grpc_address(const ServerOptions& options, std::string_view base, const Endpoint& endpoint) {
  if (!endpoint.is_default) return {};
  if (!options.grpc_address.starts_with(':')) return options.grpc_address;
  const std::string scheme = options.grpc_https && !options.grpc_address.empty() ? "https://" : "";
  return scheme + std::string(without_port(host_in_url(base))) + options.grpc_address;
}

// The id, or the part of one, in the parameter `task`; null if it is not given.
const std::string* task_named_in(const http::Request& request) {
  for (const auto& [name, value] : request.query) {
    if (name == "task") return &value;
  }
  return nullptr;
}

}  // namespace

CardUrls card_urls(const ServerOptions& options, const http::Request& request, const Endpoint& endpoint) {
  std::string base = options.public_url;
  if (base.empty()) {
    // A gRPC call names gRPC's address, which does not serve the card's URLs.
    const bool is_grpc = !request.header(":authority").empty();
    const std::string_view host = is_grpc ? std::string_view() : named_host(options, request);
    base = is_host(host) ? named_url(options, request) : std::string(endpoint.address);
  }
  const std::string grpc = grpc_address(options, base, endpoint);
  if (base.ends_with('/')) base.pop_back();
  if (!endpoint.at_root) base += std::string(kAgents) + endpoint.agent->name.value;
  return {base + "/", base, grpc};
}

http::Reply card_reply(const Services& services, const http::Request& request, const agents::Agent& agent,
                       const CardUrls& urls) {
  const auto shown = agent.shown_card();
  const CardView view = view_for(request);
  std::string card = view == CardView::v1_0 ? newest_card(services, agent, *shown, urls)
                                            : protocol::write_card(served_card(services, *shown, urls), view);
  // It is not known when a card from elsewhere has changed.
  HttpTime changed{};
  if (shown.get() == &agent.card) changed = std::chrono::floor<std::chrono::seconds>(agent.read_at);
  const auto& signer = services.options.card_signer;
  if (changed != HttpTime{} && signer && view == CardView::v1_0)
    changed = std::max(changed, signer->changed_at());
  http::Reply reply = conditional_reply(request, std::move(card), changed);
  reply.headers.emplace_back("Cache-Control", "max-age=60");
  std::string vary = "A2A-Version";
  if (services.options.cors) vary += ", Origin";
  if (services.options.public_url.empty()) {
    vary += ", Host";
    if (!services.options.proxies.empty()) vary += ", X-Forwarded-Host, X-Forwarded-Proto";
  }
  reply.headers.emplace_back("Vary", std::move(vary));
  return reply;
}

http::Reply card_keys_reply(const Services& services, const http::Request& request) {
  const auto& signer = services.options.card_signer;
  std::string keys = signer ? signer->key_set() : std::string();
  if (keys.empty()) return plain_error(404, "the cards of this server are not signed");
  http::Reply reply = conditional_reply(request, std::move(keys), {});
  if (!reply.body.empty()) reply.content_type = "application/jwk-set+json";
  reply.headers.emplace_back("Cache-Control", "public, max-age=3600");
  reply.headers.emplace_back("Access-Control-Allow-Origin", "*");
  return reply;
}

void sign_cards(const Services& services) {
  const auto& signer = services.options.card_signer;
  if (!signer || signer->key_set().empty()) return;
  const agents::Agent* const main = services.catalogue.default_agent();
  // The URLs are those below public_url, whatever the request.
  const http::Request none;
  for (const agents::Agent* agent : services.catalogue.all()) {
    // The card of an agent elsewhere may not be complete yet. It is signed when somebody asks for it.
    if (agent->settings.executor == agents::AgentSettings::Kind::a2a) continue;
    const auto shown = agent->shown_card();
    for (const bool at_root : {false, true}) {
      if (at_root && agent != main) continue;
      newest_card(services, *agent, *shown,
                  card_urls(services.options, none, {agent, at_root, {}, agent == main}));
    }
  }
}

base::Result<std::string> extended_card(const Services& services, const agents::Agent& agent,
                                        const task::Caller& caller, const CardUrls& urls, CardView view) {
  const bool anonymous = caller == task::kAnonymous;
  const auto shown = agent.shown_card();
  ServedCard served = served_card(services, *shown, urls);
  if (!agent.card.extended || !served.has_callers) {
    // Clients of REST and gRPC 0.3 have no other call for a card.
    if (view == CardView::v0_3_rest) return protocol::write_card(served, view);
    const ErrorCode code =
        view == CardView::v1_0 ? ErrorCode::unsupported : ErrorCode::extended_card_not_configured;
    return base::fail(code, "this agent has no extended card");
  }
  if (anonymous) return base::fail(ErrorCode::unauthenticated, "the extended card requires a bearer token");
  served.extended = true;
  return protocol::write_card(served, view);
}

http::Reply agents_reply(const Services& services, const http::Request& request, std::string_view address) {
  const agents::Agent* const main = services.catalogue.default_agent();
  std::optional<task::Caller> caller;
  std::vector<const agents::Agent*> admitted;
  for (const agents::Agent* agent : services.catalogue.all()) {
    auto admission = authenticate(services.options, request, agent->name);
    if (!admission) continue;
    admitted.push_back(agent);
    caller = std::move(*admission);
  }
  const std::string* const named = task_named_in(request);
  std::vector<OwnTask> tasks;
  if (named != nullptr && caller && scopes_of(services.options, request).has(Scope::read)) {
    std::vector<task::AgentName> names;
    for (const agents::Agent* agent : admitted) names.push_back(agent->name);
    auto found = own_tasks(services.engine, *caller, names, *named);
    if (!found) return plain_error(503, found.error().for_caller);
    tasks = std::move(*found);
    std::erase_if(admitted, [&](const agents::Agent* agent) {
      return std::ranges::find(tasks, agent->name, &OwnTask::agent) == tasks.end();
    });
  }
  http::Reply reply;
  json::Writer out(reply.body);
  const auto write = [&](const agents::Agent& agent) {
    const CardUrls urls = card_urls(services.options, request, {&agent, false, address, &agent == main});
    out.object([&] {
      out.member("name", agent.name.value).member("default", &agent == main);
      const auto card = agent.shown_card();
      out.member("title", card->name).member("description", card->description);
      if (agent.settings.plan) out.member("plan", true);
      out.member("url", urls.json_rpc).member("card", urls.rest + "/.well-known/agent-card.json");
      if (named == nullptr) return;
      out.key("tasks").array([&] {
        for (const OwnTask& task : tasks) {
          if (task.agent == agent.name) out.string(task.id.value);
        }
      });
    });
  };
  out.object([&] {
    out.key("agents").each(admitted, [&](const agents::Agent* agent) { write(*agent); });
    if (!caller || caller->empty() || *caller == task::kAnonymous) return;
    out.member("caller", task::account_of(*caller));
    out.optional("user", std::string(task::tenant_of(*caller)));
  });
  return reply;
}

}  // namespace baton::server
