#include "server/discovery/discovery.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "protocol/discovery/catalog.h"
#include "protocol/discovery/server_card.h"
#include "server/shared/answers.h"
#include "server/shared/endpoint.h"
#include "server/show/conditional.h"

namespace baton::server::discovery {
namespace {

using protocol::discovery::CatalogEntry;
using protocol::discovery::ServerCard;

constexpr std::string_view kAllAgents = "all-agents";

std::string publisher(const Services& services) {
  return protocol::discovery::publisher_of(services.options.public_url);
}

// Without a slash at its end.
std::string base_url(const Services& services) {
  std::string url = services.options.public_url;
  while (url.ends_with('/')) url.pop_back();
  return url;
}

std::string url_of(const Services& services, const agents::Agent& agent) {
  return base_url(services) + std::string(kAgents) + agent.name.value;
}

std::vector<const agents::Agent*> listed(const Services& services) {
  std::vector<const agents::Agent*> all;
  if (publisher(services).empty()) return all;
  for (const agents::Agent* agent : services.catalogue.all()) {
    if (agent->settings.is_listed.value_or(services.options.anonymous)) all.push_back(agent);
  }
  return all;
}

void add_entries(const Services& services, const agents::Agent& agent, std::vector<CatalogEntry>& entries) {
  const auto card = agent.shown_card();
  const std::string urn = "urn:air:" + publisher(services), url = url_of(services, agent);
  CatalogEntry entry{urn + ":agents:" + agent.name.value, card->name,
                     std::string(protocol::discovery::kA2aCard), url + "/.well-known/agent-card.json"};
  entry.description = card->description;
  entry.version = card->version;
  entry.updated = agent.changed;
  for (const task::Skill& skill : card->skills) {
    entry.tags.insert(entry.tags.end(), skill.tags.begin(), skill.tags.end());
    entry.queries.insert(entry.queries.end(), skill.examples.begin(), skill.examples.end());
  }
  entries.push_back(entry);
  if (!agent.settings.tool.is_offered) return;
  entry.identifier = urn + ":mcp:" + agent.name.value;
  entry.type = protocol::discovery::kMcpCard;
  entry.url = url + "/mcp/server-card";
  entries.push_back(std::move(entry));
}

http::Reply document(const http::Request& request, std::string body, std::string_view type) {
  http::Reply reply = conditional_reply(request, std::move(body), {});
  if (!reply.body.empty()) reply.content_type = type;
  reply.headers.emplace_back("Cache-Control", "public, max-age=300");
  reply.headers.emplace_back("Access-Control-Allow-Origin", "*");
  return reply;
}

}  // namespace

http::Reply catalog_reply(const Services& services, const http::Request& request) {
  std::vector<CatalogEntry> entries;
  for (const agents::Agent* agent : listed(services)) add_entries(services, *agent, entries);
  if (entries.empty()) return plain_error(404, "this server publishes no agents");
  const bool is_old = request.path.ends_with("/ai-catalog.json");
  return document(request, protocol::discovery::write_catalog(publisher(services), entries),
                  is_old ? "application/ai-catalog+json" : "application/json");
}

std::string catalog_link(const Services& services) {
  if (listed(services).empty()) return {};
  return "<" + base_url(services) + "/.well-known/ard.json>; rel=\"ard\"; type=\"application/json\"";
}

http::Reply server_card_reply(const Services& services, const http::Request& request,
                              const agents::Agent* agent) {
  ServerCard card{publisher(services),
                  std::string(kAllAgents),
                  "Baton",
                  "Agents as tools. A call is a task that outlives its connection.",
                  services.options.version,
                  base_url(services) + "/mcp"};
  const bool is_offered = agent == nullptr || agent->settings.tool.is_offered;
  if (card.publisher.empty() || !is_offered) return plain_error(404, "this server publishes no such card");
  if (agent != nullptr) {
    const auto shown = agent->shown_card();
    card.name = agent->name.value;
    card.title = shown->name;
    card.description = shown->description;
    if (!shown->version.empty()) card.version = shown->version;
    card.url = url_of(services, *agent) + "/mcp";
  }
  return document(request, protocol::discovery::write_server_card(card), protocol::discovery::kMcpCard);
}

}  // namespace baton::server::discovery
