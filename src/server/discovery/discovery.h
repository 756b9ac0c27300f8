// The documents by which registries and clients find the agents (protocol/discovery/). They need a public
// URL whose host is a domain name, because any other host would be the caller's choice.
//
// Threads: any; no state. Needs no store.
#pragma once

#include <string>

#include "http/http_server.h"
#include "server/shared/services.h"

namespace baton::server::discovery {

// The answer to a GET of the catalog, which names the agents that anybody may call, and those whose cards
// say that they are listed, but no agent whose card says that it is not; 404 if there is none.
http::Reply catalog_reply(const Services& services, const http::Request& request);
// The header `Link` that leads to the catalog; empty if there is none.
std::string catalog_link(const Services& services);

// The answer to a GET of the card of the agent's MCP server, or of the one with the tools of all agents if
// `agent` is null; 404 if there is none.
http::Reply server_card_reply(const Services& services, const http::Request& request,
                              const agents::Agent* agent);

}  // namespace baton::server::discovery
