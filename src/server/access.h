// Access: authenticates callers, and checks which browser pages may call.
//
// Threads: any; immutable.
#pragma once

#include "base/error.h"
#include "http/http_server.h"
#include "server/services.h"

namespace baton::server {

// The caller identified by the request's bearer token, or kAnonymous. Fails with unauthenticated (no token or
// an unknown one) or permission_denied (a token for other agents). Tokens are compared in time independent of
// where they differ.
base::Result<task::Caller> authenticate(const ServerOptions& options, const http::Request& request,
                                        const task::AgentName& agent);

// The trace to which the request belongs, as base::read_traceparent returns it; empty: none. Of several
// headers none counts.
std::string trace_of(const http::Request& request);

// Whether a large body after this head may be buffered before the request is authenticated: the head has a
// known token, or none and anonymous callers are served, or the server has no tokens.
bool may_send_body(const ServerOptions& options, const http::Request& head);

// Whether the request may be executed: it has no Origin, or an allowed one. Hiding the answer from the page
// is not enough, because browsers send some requests without a preflight.
bool origin_may_call(const ServerOptions& options, const http::Request& request);

// The headers that let a browser page of the request's origin read the answer; none if there is no origin or
// it is not allowed.
std::vector<std::pair<std::string, std::string>> cors_headers(const ServerOptions& options,
                                                              const http::Request& request);

// The answer to a browser's preflight (OPTIONS) request.
http::Reply preflight(const ServerOptions& options, const http::Request& request);

}  // namespace baton::server
