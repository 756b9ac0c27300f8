// The JSON-RPC binding: an agent's endpoint for every version. The method's name selects the version, and
// A2A-Version must agree (protocol/a2a/README.md, 2).
//
// Threads: any of the server's, several at a time; it does not block.
#pragma once

#include <memory>

#include "http/http_server.h"
#include "server/shared/endpoint.h"
#include "server/shared/services.h"

namespace baton::server::a2a {

// Handles a POST to the agent's endpoint by an admitted caller.
void handle_json_rpc(std::shared_ptr<http::Exchange> exchange, Admitted by);
// The answer to a request that has not been read, in the form that A2A-Version asks for.
http::Reply rpc_refusal(const http::Request& request, const base::Error& error, int status);
// Refuses a request without reading its body, with the error's HTTP status.
void refuse_json_rpc(http::Exchange& exchange, const base::Error& error);

}  // namespace baton::server::a2a
