// Chooses an interface of an agent and the way to call it, by the agent's card or by the Target.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "base/error.h"
#include "client/endpoint.h"
#include "protocol/card/remote_card.h"

namespace baton::client {

// Target: the agent to call, and choices that override or complete its card.
struct Target {
  std::string url = "http://127.0.0.1:8080";
  std::string agent;  // one of the server's agents; empty: the one at the URL itself
  Access access;
  std::string a2a;  // the version to speak, "0.1" to "1.0"; empty: the best that the agent's card offers
  std::string transport;  // "jsonrpc", "rest" or "grpc"; empty: the first of these that the card offers
  std::string endpoint;   // the interface's URL, instead of the card's; empty: the card's
  bool grpc_text_files = false;  // see ChannelTarget::files_are_text
  bool trust_card = false;       // the token goes to any origin that the card names
  // See outbound::CardRules::accept. Null: every card is accepted as it is.
  std::function<base::Result<std::string>(std::string_view origin, std::string_view card)> accept_card = {};
  // See protocol::a2a::ObjectReader.
  std::size_t items_max = std::numeric_limits<std::size_t>::max();

  // Returns the URL of the card's server: the endpoint if only that is given.
  std::string card_url() const { return endpoint.empty() || url != Target().url ? url : endpoint; }
};

// Fetches the card's text from /.well-known/agent-card.json, or else from /.well-known/agent.json; or from
// the URL itself if that names a .json file.
tl::expected<std::string, CallError> fetch_card(const Target& target, int stop_fd = -1);
// Fetches a card, or returns `known`, an earlier copy, if it has not changed. Null: there is no copy.
tl::expected<Fetched, CallError> fetch_card(const Target& target, int stop_fd, const Fetched* known);

enum class Purpose { tasks, lists };

// Returns the interfaces to try in order; the next one is tried for methods that the first does not have.
// JSON-RPC comes before REST before gRPC, and newer before older. For lists, returns only interfaces that
// have them. Empty if Baton and the agent have no interface in common, or none with the requested version and
// transport.
std::vector<Remote> choose_remotes(const protocol::RemoteCard& card, std::string_view a2a, Purpose purpose,
                                   std::string_view transport = {},
                                   std::size_t items_max = std::numeric_limits<std::size_t>::max());

// Returns the interfaces of the target; never empty. A target that specifies the interface needs no card. The
// token goes only to the origin that the target names, unless `trust_card` is set. `card` may be null.
// Otherwise it holds an earlier copy of the card or nullopt, and is set to the current card, or to nullopt if
// the agent turns out to have none.
tl::expected<std::vector<Remote>, CallError> find_remotes(const Target& target, Purpose purpose,
                                                          int stop_fd = -1,
                                                          std::optional<Fetched>* card = nullptr);

// Return the server's agents as JSON, {"agents": [{"name", "title", ...}]}, and their names. Fail if the
// server does not list them; only a Baton does.
tl::expected<std::string, CallError> agent_list(const Target& target, int stop_fd = -1);
tl::expected<std::vector<std::string>, CallError> agent_names(const Target& target, int stop_fd = -1);

// A task of the caller's, at one of the server's agents.
struct NamedTask {
  std::string agent, id;
  bool at_default = false;  // the agent is the server's default
};
// Asks a Baton for the caller's tasks with this id, or else with an id that contains it. Fails if the server
// does not support the lookup; only newer versions of Baton do.
tl::expected<std::vector<NamedTask>, CallError> find_tasks(const Target& target, const std::string& named,
                                                           int stop_fd = -1);

// An agent whose tasks can be listed.
struct AgentRemote {
  std::string agent;  // empty: the one at the URL itself
  Remote remote;
};
// Returns the agent that the target names, or else every agent of a server that lists them, or else the one
// at the URL.
tl::expected<std::vector<AgentRemote>, CallError> find_lists(const Target& target, int stop_fd = -1);

}  // namespace baton::client
