// Cards over HTTP: the public card with its caching headers, and the extended card.
//
// Threads: any; no state. A card is written for each request rather than cached: writing it takes less time
// than the rest of the answer, and a cache keyed by the Host header would need a bound. Only signatures are
// kept (card_signer.h).
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "http/http_server.h"
#include "protocol/card/views.h"
#include "server/shared/endpoint.h"

namespace baton::server {

// The agent's URLs, as its card shows them.
struct CardUrls {
  std::string json_rpc;  // with a trailing slash
  std::string rest;      // without one
  std::string grpc;      // empty: not served
};

// The agent's URLs as its caller can reach them: under the configured public URL, else the host the request
// names (hosts.h; already checked by the pipeline), else the server's address.
CardUrls card_urls(const ServerOptions& options, const http::Request& request, const Endpoint& endpoint);

// The answer to a GET or HEAD of an agent's card: the pure 1.0 card if A2A-Version (header or query) is 1.0,
// otherwise the superset card; 304 if the caller's copy is current.
http::Reply card_reply(const Services& services, const http::Request& request, const agents::Agent& agent,
                       const CardUrls& urls);

// The answer with the keys that our cards are signed with (RFC 7517); 404 if they are not signed.
http::Reply card_keys_reply(const Services& services, const http::Request& request);

// Signs the cards of all agents here, so that no request waits for that and the log says at once which cannot
// be signed. No effect without a key.
void sign_cards(const Services& services);

// The JSON of the extended card in the view of the version: superset for 0.2 and JSON-RPC 0.3. If the
// agent has no extended card, or the server has no tokens, the view of REST 0.3 gets the public card, and the
// others fail with unsupported (1.0) or extended_card_not_configured. Otherwise an anonymous caller gets
// unauthenticated. `caller` is without a tenant.
base::Result<std::string> extended_card(const Services& services, const agents::Agent& agent,
                                        const task::Caller& caller, const CardUrls& urls,
                                        protocol::CardView view);

// The answer to GET /agents: the agents the caller may call, with the URLs of their cards. With `?task=`,
// an id or a part of one, only the agents that have matching tasks of the caller, with the ids of these
// tasks (own_tasks.h). A caller that refused_everywhere() refuses gets no such answer. `address`: see
// Endpoint.
http::Reply agents_reply(const Services& services, const http::Request& request, std::string_view address);

}  // namespace baton::server
