#include "cli/remote.h"

#include <algorithm>
#include <array>

#include "cli/printable.h"
#include "net/http_client.h"

namespace baton::cli {
namespace {

using task::Generation;
using wire::Binding;

constexpr std::array kGenerations{Generation::v0_1, Generation::v0_2, Generation::v0_3, Generation::v1_0};

std::optional<Generation> generation_of(std::string_view a2a) {
  for (const Generation generation : kGenerations) {
    if (wire::name_of(generation) == a2a) return generation;
  }
  return std::nullopt;
}

auto failed(std::string text) {
  return tl::unexpected(CallError{std::move(text), 0, false});
}

std::optional<Remote> as_remote(const wire::RemoteInterface& place, bool streams) {
  auto dialect = wire::a2a::client_dialect(place.generation, place.binding, place.tenant);
  if (!dialect || !net::parse_url(place.url)) return std::nullopt;
  return Remote{place.url, std::move(dialect), streams};
}

bool is_refused(const CallError& error) {
  return error.status == 401 || error.status == 403;
}

// Of a card that may be of 0.1 or of 0.2: the place once more.
std::optional<wire::RemoteInterface> also_as_v0_1(const wire::RemoteCard& card, wire::RemoteInterface place) {
  if (place.generation != Generation::v0_2) return std::nullopt;
  place.generation = Generation::v0_1;
  const bool is_there =
      std::find(card.interfaces.begin(), card.interfaces.end(), place) != card.interfaces.end();
  return is_there ? std::optional(place) : std::nullopt;
}

std::string offers_of(const wire::RemoteCard& card) {
  std::string text;
  for (const wire::RemoteInterface& place : card.interfaces) {
    text.append(text.empty() ? "" : ", ").append(wire::name_of(place.generation)).append(" ");
    text.append(wire::name_of(place.binding));
  }
  return text.empty() ? "nothing that is known here" : text;
}

std::string nothing_fits(const wire::RemoteCard& card, std::string_view a2a, Purpose purpose) {
  if (purpose == Purpose::lists && !a2a.empty() && a2a != "1.0") {
    return "A2A " + std::string(a2a) + " has no lists; 1.0 has";
  }
  if (purpose == Purpose::lists) return "lists need A2A 1.0; the agent's card offers " + offers_of(card);
  const std::string wish = a2a.empty() ? "" : " as A2A " + std::string(a2a);
  return "the agent cannot be spoken to" + wish + "; its card offers " + offers_of(card);
}

// A token given for a safe place does not go over an open line because a card says so.
bool leaks_token(const ClientOptions& client, const Remote& remote) {
  return !client.token.empty() && client.url.starts_with("https://") && !remote.url.starts_with("https://");
}

}  // namespace

tl::expected<std::string, CallError> fetch_card(const ClientOptions& client, int stop_fd) {
  // Servers of several generations answer 1.0 clients with a card of 1.0, others with an older one.
  const std::string_view version = client.a2a.empty() || client.a2a == "1.0" ? "1.0" : "";
  if (client.agent.empty() && client.url.ends_with(".json")) {
    return http_get(client.url, client.token, version, stop_fd);
  }
  std::string base = endpoint_url(client.url, client.agent);
  if (base.ends_with('/')) base.pop_back();
  auto card = http_get(base + "/.well-known/agent-card.json", client.token, version, stop_fd);
  if (card || card.error().lost || is_refused(card.error())) return card;
  return http_get(base + "/.well-known/agent.json", client.token, version, stop_fd);
}

std::vector<Remote> choose_remotes(const wire::RemoteCard& card, std::string_view a2a, Purpose purpose) {
  wire::InterfaceWish wish;
  wish.generation = generation_of(a2a);
  if (purpose == Purpose::lists) {
    if (wish.generation && *wish.generation != Generation::v1_0) return {};
    wish.generation = Generation::v1_0;
  }
  std::vector<Remote> found;
  for (const Binding binding : {Binding::json_rpc, Binding::rest}) {
    wish.bindings = {binding};
    const auto place = wire::pick(card, wish);
    auto remote = place ? as_remote(*place, card.streaming) : std::nullopt;
    if (!remote) continue;
    found.push_back(std::move(*remote));
    const auto older = a2a.empty() ? also_as_v0_1(card, *place) : std::nullopt;
    if (older) found.push_back(*as_remote(*older, card.streaming));
    break;
  }
  return found;
}

tl::expected<std::vector<Remote>, CallError> find_remotes(const ClientOptions& client, Purpose purpose,
                                                          int stop_fd) {
  const auto text = fetch_card(client, stop_fd);
  if (!text) {
    const auto forced = generation_of(client.a2a);
    const CallError& error = text.error();
    if (error.lost || is_refused(error)) return tl::unexpected(error);
    if (!forced) return failed(error.text + "; for an agent without a card --a2a says how to speak to it");
    return std::vector<Remote>{{endpoint_url(client.url, client.agent),
                                wire::a2a::client_dialect(*forced, Binding::json_rpc), true}};
  }
  const auto card = wire::read_remote_card(*text);
  if (!card) return failed("the agent's card cannot be read: " + card.error().for_caller);
  auto remotes = choose_remotes(*card, client.a2a, purpose);
  if (remotes.empty()) return failed(nothing_fits(*card, client.a2a, purpose));
  if (leaks_token(client, remotes.front())) {
    return failed("the agent's card names " + remotes.front().url +
                  ", where the token would be sent in the open");
  }
  return remotes;
}

}  // namespace baton::cli
