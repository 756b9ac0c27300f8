// Access: authenticates callers, and checks which browser pages may call.
//
// Threads: any; immutable.
#pragma once

#include "base/error.h"
#include "http/http_server.h"
#include "server/shared/options.h"

namespace baton::server {

// The caller identified by the request's bearer token, or kAnonymous. A page's token (page_tokens.h) may
// stand in the query of a GET instead, as `access_token`: browsers' EventSource and images have no headers.
// Fails with unauthenticated (no token or an unknown one) or permission_denied (a token for other agents, or
// for looking only). Tokens are compared in time independent of where they differ.
base::Result<task::Caller> authenticate(const ServerOptions& options, const http::Request& request,
                                        const task::AgentName& agent);

// The same with what the token says of the tasks that it begins.
struct Identity {
  task::Caller caller;
  ChildAgents child_agents;
};
base::Result<Identity> identify(const ServerOptions& options, const http::Request& request,
                                const task::AgentName& agent);

// The caller's own token that the request has; null: it has none that is good for calling.
const Token* own_token(const ServerOptions& options, const http::Request& request);

bool equal_in_constant_time(std::string_view given, std::string_view secret);

// Somebody who runs this server.
struct Operator {
  std::string name;      // the caller of the token; the audit has it
  bool may_act = false;  // else only look
};

// Whoever the request's bearer token says operates this server; nobody does without one. Fails with
// unauthenticated (no token or an unknown one) or permission_denied (a caller's).
base::Result<Operator> authenticate_operator(const ServerOptions& options, const http::Request& request);

// Whether no page of another origin has sent the request, whatever the options of CORS say: it has no Origin
// or that of the host it names, and a browser that tells where it comes from says: from here.
bool is_of_own_page(const ServerOptions& options, const http::Request& request);

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
