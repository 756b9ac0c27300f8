// Chooses which of an agent's interfaces a client command speaks to, and how: by the agent's card, or by the
// command line.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "cli/commands.h"
#include "cli/endpoint.h"
#include "wire/card/remote_card.h"

namespace baton::cli {

// Fetches the card's text from /.well-known/agent-card.json, else from /.well-known/agent.json; or from the
// URL itself if that names a .json file.
tl::expected<std::string, CallError> fetch_card(const ClientOptions& client, int stop_fd = -1);

enum class Purpose { tasks, lists };

// The interfaces to try in order; the next one is for methods that do not exist. JSON-RPC comes before REST
// before gRPC, and newer before older. For lists, only interfaces that have them. Empty if Baton and the
// agent have none in common, or none that was asked for.
std::vector<Remote> choose_remotes(const wire::RemoteCard& card, std::string_view a2a, Purpose purpose,
                                   std::string_view transport = {});

// The same for the agent that the command line names; never empty. If the command line says how to speak to
// it, the agent needs no card. The user's token goes only to the origin that the user named, unless
// trust_card.
tl::expected<std::vector<Remote>, CallError> find_remotes(const ClientOptions& client, Purpose purpose,
                                                          int stop_fd = -1);

// The names of the server's agents. Fails if the server does not list them: only Baton does.
tl::expected<std::vector<std::string>, CallError> agent_names(const ClientOptions& client, int stop_fd = -1);

// An agent whose tasks can be listed.
struct AgentRemote {
  std::string agent;  // empty: the one at the URL itself
  Remote remote;
};
// The agent that the command line names, or else every agent of a server that lists them, or else the one at
// the URL.
tl::expected<std::vector<AgentRemote>, CallError> find_lists(const ClientOptions& client, int stop_fd = -1);

}  // namespace baton::cli
