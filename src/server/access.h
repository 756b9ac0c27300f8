// Access: who calls, and which browser pages may.
//
// Threads: any; immutable.
#pragma once

#include "base/error.h"
#include "server/http/http_server.h"
#include "server/services.h"

namespace baton::server {

// The caller a request's bearer token stands for, or kAnonymous. Fails with unauthenticated (no token, or an
// unknown one) or permission_denied (a token that is not good for this agent). A token is compared in a time
// that does not depend on where it differs.
base::Result<task::Caller> authenticate(const ServerOptions& options, const http::Request& request,
                                        const task::AgentName& agent);

// Whether the sender of this head, which is the text of its lines, may send a body that is worth keeping in
// memory before it is looked at: an anonymous caller where those are served, or one with a known token.
bool may_send_body(const ServerOptions& options, std::string_view head);

// Whether the request may be acted on: it is not from a browser, or from a page of an allowed origin. A page
// can send some requests without asking first; the answer it cannot read would come too late.
bool origin_may_call(const ServerOptions& options, const http::Request& request);

// The headers that let a browser page of the request's origin read the answer; none where there is no origin
// or it is not allowed.
std::vector<std::pair<std::string, std::string>> cors_headers(const ServerOptions& options,
                                                              const http::Request& request);

// The answer to a browser's OPTIONS request before the real one.
http::Reply preflight(const ServerOptions& options, const http::Request& request);

}  // namespace baton::server
