#include "client/remote.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "json/document.h"
#include "outbound/http_client.h"

namespace baton::client {
namespace {

using protocol::Binding;
using task::ProtocolVersion;

auto failed(std::string text) {
  return tl::unexpected(CallError{std::move(text), 0, false});
}

// Uses the REST dialect of the version: the channel converts its requests to gRPC calls.
std::optional<Remote> over_grpc(const protocol::RemoteInterface& place, bool streams, std::size_t items_max) {
  if (!GrpcChannel::available()) return std::nullopt;
  auto dialect = protocol::a2a::client_dialect(place.version, Binding::rest, {}, items_max);
  if (!dialect || place.url.empty()) return std::nullopt;
  Remote remote{place.url, std::move(dialect), streams};
  remote.over_grpc = ChannelTarget{{}, place.version, place.tenant};
  return remote;
}

std::optional<Remote> as_remote(const protocol::RemoteInterface& place, bool streams, std::size_t items_max) {
  if (place.binding == Binding::grpc) return over_grpc(place, streams, items_max);
  auto dialect = protocol::a2a::client_dialect(place.version, place.binding, place.tenant, items_max);
  if (!dialect || !outbound::parse_url(place.url)) return std::nullopt;
  return Remote{place.url, std::move(dialect), streams};
}

struct Transport {
  std::string_view name;  // on the command line
  Binding binding;
};
// In order of preference.
constexpr std::array kTransports{Transport{"jsonrpc", Binding::json_rpc}, Transport{"rest", Binding::rest},
                                 Transport{"grpc", Binding::grpc}};

bool is_refused(const CallError& error) {
  return error.status == 401 || error.status == 403;
}

// If the card may be of 0.1 or of 0.2, or its interface of 0.3 or of 1.0, returns the interface with the
// older version.
std::optional<protocol::RemoteInterface> also_as_older(const protocol::RemoteCard& card,
                                                       protocol::RemoteInterface place) {
  if (place.version == ProtocolVersion::v0_2)
    place.version = ProtocolVersion::v0_1;
  else if (place.version == ProtocolVersion::v1_0)
    place.version = ProtocolVersion::v0_3;
  else
    return std::nullopt;
  const bool is_there =
      std::find(card.interfaces.begin(), card.interfaces.end(), place) != card.interfaces.end();
  return is_there ? std::optional(place) : std::nullopt;
}

std::string offers_of(const protocol::RemoteCard& card) {
  std::string text;
  for (const protocol::RemoteInterface& place : card.interfaces) {
    text.append(text.empty() ? "" : ", ").append(protocol::name_of(place.version)).append(" ");
    text.append(protocol::name_of(place.binding));
  }
  return text.empty() ? "nothing that this client supports" : text;
}

std::string nothing_fits(const protocol::RemoteCard& card, const Target& target, Purpose purpose) {
  const std::string& a2a = target.a2a;
  if (purpose == Purpose::lists && !a2a.empty() && a2a != "1.0") {
    return "A2A " + a2a + " cannot list tasks; use A2A 1.0";
  }
  if (purpose == Purpose::lists)
    return "listing tasks requires A2A 1.0; the agent's card offers " + offers_of(card);
  std::string wish = a2a.empty() ? "" : " as A2A " + a2a;
  if (!target.transport.empty()) wish += " over " + target.transport;
  return "this client cannot talk to the agent" + wish + "; its card offers " + offers_of(card);
}

// `query` is the query string of the list.
tl::expected<std::string, CallError> fetch_agents(const Target& target, const std::string& query,
                                                  int stop_fd) {
  std::string url = target.card_url();
  while (url.ends_with('/')) url.pop_back();
  auto fetched = http_get(url + "/agents" + query, target.access, "", stop_fd);
  if (!fetched) return tl::unexpected(fetched.error());
  if (!json::Document::view_of(fetched->text).root()["agents"].is_array())
    return failed("the server does not list its agents; is it a Baton server?");
  return std::move(fetched->text);
}

// Gives the token only to the origin that the user named, because others write the cards.
void give_access(const Target& target, Remote& remote) {
  remote.access = target.access;
  if (target.access.token.empty() && !target.access.credentials) return;
  const std::string origin = outbound::origin_of(remote.url);
  const bool named = origin == outbound::origin_of(target.card_url()) || remote.url == target.endpoint;
  if (named || target.trust_card) return;
  remote.access.token.clear();
  remote.access.credentials.reset();
  remote.untrusted_origin = origin;
}

// Returns an error if the server has agents but not this one, or no default one; nullopt if it has the agent
// or does not list its agents.
std::optional<CallError> no_such_agent(const Target& target, int stop_fd) {
  const auto names = agent_names(target, stop_fd);
  if (!names || names->empty()) return std::nullopt;
  if (std::ranges::find(*names, target.agent) != names->end()) return std::nullopt;
  CallError error{target.agent.empty() ? "the server has no default agent"
                                       : "agent not found: \"" + target.agent + "\""};
  error.other_agents = OtherAgents{target.agent, *names};
  return error;
}

// Returns the text to read the card from. Empty text: the agent has no card.
tl::expected<std::string, CallError> accepted(const Target& target, std::string_view card) {
  if (!target.accept_card) return std::string(card);
  auto text = target.accept_card(outbound::origin_of(target.card_url()), card);
  if (!text)
    return tl::unexpected(CallError{.text = std::move(text.error().for_caller), .refused_card = true});
  return std::move(*text);
}

// Completes the URLs of the card that are paths at the server that the card is from. A URL that the user
// named takes the place of all.
void complete_urls(const Target& target, protocol::RemoteCard& card) {
  for (protocol::RemoteInterface& place : card.interfaces) {
    const bool is_path = place.url.starts_with('/') && !place.url.starts_with("//");
    if (is_path) place.url.insert(0, outbound::origin_of(target.card_url()));
    if (!target.endpoint.empty()) place.url = target.endpoint;
  }
}

tl::expected<protocol::RemoteCard, CallError> read_card(std::string_view text) {
  auto card = protocol::read_remote_card(text);
  if (!card) return failed("the agent's card is invalid: " + card.error().for_caller);
  return std::move(*card);
}

}  // namespace

tl::expected<std::string, CallError> agent_list(const Target& target, int stop_fd) {
  return fetch_agents(target, "", stop_fd);
}

tl::expected<std::vector<NamedTask>, CallError> find_tasks(const Target& target, const std::string& named,
                                                           int stop_fd) {
  const auto list = fetch_agents(target, "?task=" + base::percent_encoded(named), stop_fd);
  if (!list) return tl::unexpected(list.error());
  const auto document = json::Document::view_of(*list);
  std::vector<NamedTask> found;
  for (const json::Value agent : document.root()["agents"]) {
    if (!agent["tasks"].is_array())
      return failed("the server cannot look up tasks by id; name the agent with --agent");
    for (const json::Value id : agent["tasks"])
      found.push_back({agent["name"].str(), id.str(), agent["default"].boolean()});
  }
  return found;
}

tl::expected<std::vector<std::string>, CallError> agent_names(const Target& target, int stop_fd) {
  const auto list = agent_list(target, stop_fd);
  if (!list) return tl::unexpected(list.error());
  const auto document = json::Document::view_of(*list);
  std::vector<std::string> names;
  for (const json::Value agent : document.root()["agents"]) {
    if (!agent["name"].string().empty()) names.push_back(agent["name"].str());
  }
  return names;
}

tl::expected<std::string, CallError> fetch_card(const Target& target, int stop_fd) {
  auto fetched = fetch_card(target, stop_fd, nullptr);
  if (!fetched) return tl::unexpected(fetched.error());
  return std::move(fetched->text);
}

tl::expected<Fetched, CallError> fetch_card(const Target& target, int stop_fd, const Fetched* known) {
  // Servers of several versions send a card of 1.0 to clients of 1.0, and an older one to others.
  const std::string_view version = target.a2a.empty() || target.a2a == "1.0" ? "1.0" : "";
  const std::string url = target.card_url();
  if (target.agent.empty() && url.ends_with(".json"))
    return http_get(url, target.access, version, stop_fd, known);
  std::string base = endpoint_url(url, target.agent);
  if (base.ends_with('/')) base.pop_back();
  auto card = http_get(base + "/.well-known/agent-card.json", target.access, version, stop_fd, known);
  if (card || card.error().lost || is_refused(card.error())) return card;
  auto old = http_get(base + "/.well-known/agent.json", target.access, version, stop_fd, known);
  if (old || old.error().status != 404) return old;
  if (const auto error = no_such_agent(target, stop_fd)) return tl::unexpected(*error);
  return old;
}

std::vector<Remote> choose_remotes(const protocol::RemoteCard& card, std::string_view a2a, Purpose purpose,
                                   std::string_view transport, std::size_t items_max) {
  protocol::InterfaceWish wish;
  wish.version = protocol::version_named(a2a);
  if (purpose == Purpose::lists) {
    if (wish.version && *wish.version != ProtocolVersion::v1_0) return {};
    wish.version = ProtocolVersion::v1_0;
  }
  std::vector<Remote> found;
  for (const Transport& one : kTransports) {
    if (!transport.empty() && transport != one.name) continue;
    wish.bindings = {one.binding};
    const auto place = protocol::pick(card, wish);
    auto remote = place ? as_remote(*place, card.streaming, items_max) : std::nullopt;
    if (!remote) continue;
    remote->repeats_safely = protocol::repeats_safely(card.card);
    remote->has_extension = protocol::has_baton_extension(card.card);
    found.push_back(std::move(*remote));
    const auto older = wish.version ? std::nullopt : also_as_older(card, *place);
    if (older) found.push_back(*as_remote(*older, card.streaming, items_max));
    break;
  }
  return found;
}

tl::expected<std::vector<Remote>, CallError> find_remotes(const Target& target, Purpose purpose, int stop_fd,
                                                          std::optional<Fetched>* card_kept) {
  std::vector<Remote> remotes;
  const bool needs_card = target.transport != "grpc" || target.endpoint.empty();
  const Fetched* const known = card_kept && *card_kept ? &**card_kept : nullptr;
  const tl::expected<Fetched, CallError> fetched =
      needs_card ? fetch_card(target, stop_fd, known) : tl::expected<Fetched, CallError>();
  if (!needs_card) {
    const ProtocolVersion version = protocol::version_named(target.a2a).value_or(ProtocolVersion::v1_0);
    auto remote = over_grpc({target.endpoint, Binding::grpc, version, {}}, true, target.items_max);
    if (!remote) return failed("A2A " + target.a2a + " over gRPC is not supported by this program");
    if (const auto text = accepted(target, ""); !text) return tl::unexpected(text.error());
    remote->agent = target.agent;
    remotes.push_back(std::move(*remote));
  } else if (!fetched) {
    const auto forced = protocol::version_named(target.a2a);
    const CallError& error = fetched.error();
    if (error.lost || is_refused(error) || error.other_agents) return tl::unexpected(error);
    if (!forced) return tl::unexpected(CallError{.text = error.text, .no_card = true});
    const Binding binding = target.transport == "rest" ? Binding::rest : Binding::json_rpc;
    auto dialect = protocol::a2a::client_dialect(*forced, binding, {}, target.items_max);
    if (!dialect) return failed("A2A " + target.a2a + " has no REST binding; use jsonrpc");
    if (const auto text = accepted(target, ""); !text) return tl::unexpected(text.error());
    if (card_kept) card_kept->reset();
    remotes.push_back({endpoint_url(target.card_url(), target.agent), std::move(dialect)});
  } else {
    const std::string_view sent = base::without_mark(fetched->text);
    // An answer that is not a card is a failed fetch: it does not revoke an earlier card.
    if (const auto any = read_card(sent); !any) return tl::unexpected(any.error());
    auto text = accepted(target, sent);
    if (!text) return tl::unexpected(text.error());
    auto card = read_card(*text);
    if (!card) return tl::unexpected(card.error());
    complete_urls(target, *card);
    remotes = choose_remotes(*card, target.a2a, purpose, target.transport, target.items_max);
    if (remotes.empty()) return failed(nothing_fits(*card, target, purpose));
    if (card_kept) {
      *card_kept = *fetched;
      (*card_kept)->accepted = std::move(*text);
    }
  }
  for (Remote& remote : remotes) {
    if (!target.endpoint.empty()) remote.url = target.endpoint;
    if (remote.over_grpc && remote.agent.empty()) remote.agent = target.agent;
    if (remote.over_grpc) remote.over_grpc->files_are_text = target.grpc_text_files;
    give_access(target, remote);
  }
  return remotes;
}

tl::expected<std::vector<AgentRemote>, CallError> find_lists(const Target& target, int stop_fd) {
  const bool every = target.agent.empty() && target.endpoint.empty() &&
                     (target.a2a.empty() || target.a2a == "1.0") && target.transport != "grpc";
  const auto names = every ? agent_names(target, stop_fd) : failed("");
  if (!names) {
    auto remotes = find_remotes(target, Purpose::lists, stop_fd);
    if (!remotes) return tl::unexpected(remotes.error());
    return std::vector<AgentRemote>{{target.agent, remotes->front()}};
  }
  // A server that lists its agents is a Baton, which serves each agent below the same URL in A2A 1.0.
  const Binding binding = target.transport == "rest" ? Binding::rest : Binding::json_rpc;
  std::vector<AgentRemote> found;
  for (const std::string& name : *names) {
    Remote remote{endpoint_url(target.url, name),
                  protocol::a2a::client_dialect(ProtocolVersion::v1_0, binding)};
    remote.access = target.access;
    found.push_back({name, std::move(remote)});
  }
  return found;
}

}  // namespace baton::client
