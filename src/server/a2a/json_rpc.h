// The JSON-RPC endpoint of an agent, for every generation: the method's name says which, and
// A2A-Version must agree (wire/a2a/README.md, 2).
//
// Threads: on the server's workers, several at a time.
#pragma once

#include <memory>

#include "server/endpoint.h"
#include "server/http/http_server.h"
#include "server/services.h"

namespace baton::server::a2a {

// A POST to the agent's endpoint by a caller who is known.
void handle_json_rpc(const Services& services, std::shared_ptr<http::Exchange> exchange,
                     const Endpoint& endpoint, task::Caller caller);
// Refuses one whose body was not looked at, with the error's HTTP status.
void refuse_json_rpc(const Services& services, http::Exchange& exchange, const base::Error& error);

}  // namespace baton::server::a2a
