// Finds out which of an agent's interfaces to speak to, and how: by the agent's card, or as the Target says.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "client/endpoint.h"
#include "protocol/card/remote_card.h"

namespace baton::client {

// Target: which agent to speak to, and how, as far as its card does not decide.
struct Target {
  std::string url = "http://127.0.0.1:8080";
  std::string agent;  // which of the server's; empty: the one at the URL itself
  Access access;
  std::string a2a;  // the version to speak, "0.1" to "1.0"; empty: the best that the agent's card offers
  std::string transport;  // "jsonrpc", "rest" or "grpc"; empty: the first of these that the card offers
  std::string endpoint;   // where the agent is spoken to, whatever its card says; empty: as the card says
  bool grpc_text_files = false;  // see ChannelTarget::files_are_text
  bool trust_card = false;       // the token goes to any origin that the card names
  // See protocol::a2a::ObjectReader.
  std::size_t items_max = std::numeric_limits<std::size_t>::max();

  // Where to look for the card: at the endpoint if only that is given.
  std::string card_url() const { return endpoint.empty() || url != Target().url ? url : endpoint; }
};

// "https://host:port" of a URL, or of a host and port, as gRPC interfaces have; empty if it is neither.
std::string origin_of(std::string_view url);

// Fetches the card's text from /.well-known/agent-card.json, else from /.well-known/agent.json; or from the
// URL itself if that names a .json file.
tl::expected<std::string, CallError> fetch_card(const Target& target, int stop_fd = -1);
// The same for a card that may be known.
tl::expected<Fetched, CallError> fetch_card(const Target& target, int stop_fd, const Fetched* known);

enum class Purpose { tasks, lists };

// The interfaces to try in order; the next one is for methods that do not exist. JSON-RPC comes before REST
// before gRPC, and newer before older. For lists, only interfaces that have them. Empty if Baton and the
// agent have none in common, or none that was asked for.
std::vector<Remote> choose_remotes(const protocol::RemoteCard& card, std::string_view a2a, Purpose purpose,
                                   std::string_view transport = {},
                                   std::size_t items_max = std::numeric_limits<std::size_t>::max());

// The same for the target; never empty. If the target says how to speak to it, it needs no card. Its token
// goes only to the origin that the target names, unless trust_card. `card`, if it is not null: the card as it
// was had before, or nothing; becomes the card as it is.
tl::expected<std::vector<Remote>, CallError> find_remotes(const Target& target, Purpose purpose,
                                                          int stop_fd = -1,
                                                          std::optional<Fetched>* card = nullptr);

// The server's agents as JSON, {"agents": [{"name", "title", ...}]}, and their names. Fail if the server does
// not list them: only Baton does.
tl::expected<std::string, CallError> agent_list(const Target& target, int stop_fd = -1);
tl::expected<std::vector<std::string>, CallError> agent_names(const Target& target, int stop_fd = -1);

// A task of the caller's, at one of the server's agents.
struct NamedTask {
  std::string agent, id;
  bool at_default = false;  // the agent is the one that is meant without a name
};
// Asks a Baton for the caller's tasks with this id, or else with an id of which it is a part. Fails if the
// server does not know the question: only Baton does, and older ones do not.
tl::expected<std::vector<NamedTask>, CallError> find_tasks(const Target& target, const std::string& named,
                                                           int stop_fd = -1);

// An agent whose tasks can be listed.
struct AgentRemote {
  std::string agent;  // empty: the one at the URL itself
  Remote remote;
};
// The agent that the target names, or else every agent of a server that lists them, or else the one at the
// URL.
tl::expected<std::vector<AgentRemote>, CallError> find_lists(const Target& target, int stop_fd = -1);

}  // namespace baton::client
