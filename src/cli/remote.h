// Which of an agent's interfaces a client command speaks to, and how: by the agent's card, or as the command
// line says.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "cli/commands.h"
#include "cli/endpoint.h"
#include "wire/card/remote_card.h"

namespace baton::cli {

// The card's text, from /.well-known/agent-card.json, else from /.well-known/agent.json; or from the URL
// itself if that names a .json file.
tl::expected<std::string, CallError> fetch_card(const ClientOptions& client, int stop_fd = -1);

enum class Purpose { tasks, lists };

// The interfaces to try, the next one where a method does not exist: JSON-RPC before REST, newer before
// older, for lists none that has no lists. Empty: there is nothing that Baton and the agent both speak, or
// not that wish.
std::vector<Remote> choose_remotes(const wire::RemoteCard& card, std::string_view a2a, Purpose purpose,
                                   std::string_view transport = {});

// The same for the agent that the command line names; not empty. With a wish the agent need not have a card.
// The user's token is given to those at the origin that the user named, and to others only where the card is
// to be trusted.
tl::expected<std::vector<Remote>, CallError> find_remotes(const ClientOptions& client, Purpose purpose,
                                                          int stop_fd = -1);

// The names of the server's agents. Fails where it does not list them: what only Baton does.
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
