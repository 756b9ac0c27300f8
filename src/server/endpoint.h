// Endpoint: where a request reached an agent, and how a card says so.
//
// Threads: any; no state.
#pragma once

#include <string_view>

#include "server/cards.h"
#include "server/services.h"

namespace baton::server {

// What the path of an agent begins with, except for the default one's at the root.
inline constexpr std::string_view kAgents = "/agents/";

struct Endpoint {
  const agents::Agent* agent = nullptr;
  bool at_root = false;
  std::string_view address;  // "http://host:port" of the server; what it points at outlives every request
  bool is_default = false;   // the agent that gRPC's calls are for
};

// The URLs of the agent as its caller can reach them: under the public URL of the configuration, else under
// the host the request names (hosts.h; the router has made sure that it is served), else under the server's
// address.
CardUrls card_urls(const ServerOptions& options, const http::Request& request, const Endpoint& endpoint);

}  // namespace baton::server
