// Cards over HTTP: the public card with its caching headers, and the extended card.
//
// Threads: any; no state. A card is written anew for each request: that takes less time than the rest of the
// answer, and what the caller's Host header puts into it needs no bound.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "server/http/http_server.h"
#include "server/services.h"
#include "wire/card/views.h"

namespace baton::server {

// Where an agent is reached, as its card shows it.
struct CardUrls {
  std::string json_rpc;  // with a slash at its end
  std::string rest;      // without
  std::string grpc;      // empty: not served
};

// The answer to a GET or HEAD of an agent's card: the pure 1.0 card for who says A2A-Version: 1.0 (as a
// header or in the query), the superset card for all others; 304 where the caller has it already.
http::Reply card_reply(const Services& services, const http::Request& request, const agents::Agent& agent,
                       const CardUrls& urls);

// The JSON of the extended card in the view of the generation: superset for 0.2 and JSON-RPC 0.3. For an
// agent without an extended card, or where nobody has a token, the view of REST 0.3 has the public one, and
// the others fail with unsupported (1.0) or extended_card_not_configured. Fails with unauthenticated for an
// anonymous caller of an agent that has one. `caller` is without a tenant.
base::Result<std::string> extended_card(const Services& services, const agents::Agent& agent,
                                        const task::Caller& caller, const CardUrls& urls,
                                        wire::CardView view);

// The answer to GET /agents: the agents that the caller may speak to, with the URLs of their cards. Refused
// where authenticate() refuses the caller at every agent. `address`: see Endpoint.
http::Reply agents_reply(const Services& services, const http::Request& request, std::string_view address);

}  // namespace baton::server
