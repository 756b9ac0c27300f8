// The JSON-RPC binding: an agent's endpoint for every version. The method's name selects the version, and
// A2A-Version must agree (protocol/a2a/README.md, 2).
//
// Threads: any of the server's, several at a time; it does not block.
#pragma once

#include <memory>

#include "http/http_server.h"
#include "server/endpoint.h"
#include "server/services.h"

namespace baton::server::a2a {

// Handles a POST to the agent's endpoint by an admitted caller.
void handle_json_rpc(std::shared_ptr<http::Exchange> exchange, Admitted by);
// Refuses a request without reading its body, with the error's HTTP status.
void refuse_json_rpc(http::Exchange& exchange, const base::Error& error);

}  // namespace baton::server::a2a
