// The JSON-RPC endpoint of an agent, for every generation. The method name selects the generation, and
// A2A-Version must agree (wire/a2a/README.md, 2).
//
// Threads: on the server's workers, several at a time.
#pragma once

#include <memory>

#include "server/endpoint.h"
#include "server/http/http_server.h"
#include "server/services.h"

namespace baton::server::a2a {

// Handles a POST to the agent's endpoint by an authenticated caller.
void handle_json_rpc(const Services& services, std::shared_ptr<http::Exchange> exchange,
                     const Endpoint& endpoint, task::Caller caller);
// Refuses a request without reading its body, with the error's HTTP status.
void refuse_json_rpc(const Services& services, http::Exchange& exchange, const base::Error& error);

}  // namespace baton::server::a2a
