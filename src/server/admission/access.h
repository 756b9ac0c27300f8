// Access: authenticates callers, and checks which browser pages may call.
//
// Threads: any; immutable.
#pragma once

#include <functional>

#include "base/error.h"
#include "http/http_server.h"
#include "server/admission/page_tokens.h"
#include "server/shared/options.h"

namespace baton::server {

// A caller, the agents that its tasks may delegate to, and what its token allows.
struct Identity {
  task::Caller caller;
  ChildAgents child_agents;
  Scopes scopes = Scopes::all();
  task::SubjectTokenPtr subject = nullptr;  // see task::Submission
};

// Identifies the caller by the request's bearer token, by the token in ServerOptions::key_header, or by its
// certificate; without any, the caller is kAnonymous where those are admitted. A page's token (page_tokens.h)
// may stand in the query of a GET instead, as `access_token`: browsers' EventSource and images have no
// headers. Fails with unauthenticated (no token, an unknown one, or two), permission_denied (a token for
// other agents, or a viewer's) or unavailable (it cannot be checked now). `for_log` has the reason, if there
// is more. Tokens are compared in time independent of where they differ.
base::Result<Identity> identify(const ServerOptions& options, const http::Request& request,
                                const task::AgentName& agent);
// Like `identify`, for the caller alone.
base::Result<task::Caller> authenticate(const ServerOptions& options, const http::Request& request,
                                        const task::AgentName& agent);

// The scopes of the request's token, whatever agents it is for. Without a valid one: all if the caller is
// admitted as anonymous, else none.
Scopes scopes_of(const ServerOptions& options, const http::Request& request);

// The request's access token of an authorization server; null if it has no valid one.
TokenPtr access_token_of(const ServerOptions& options, const http::Request& request);

// The source of the page tokens that the request may make: a caller's token or certificate (Role::calls), or
// a session that may call agents. Page tokens do not count. Fails with unauthenticated, permission_denied (a
// viewer's session or token, an operator's token), unavailable, or as session_of.
base::Result<PageSource> page_source(const ServerOptions& options, const http::Request& request);

// Waits for the request's token to be checked, and for the keys that it needs (TokenSource::await).
TokenSource::Wait await_token(const ServerOptions& options, const http::Request& request,
                              std::function<void()> done);

// Whether finding the request's token takes little time: the token has no signature, or its signature was
// checked a short time ago, or the request has no token.
bool has_quick_token(const ServerOptions& options, const http::Request& request);

// Whether the request brings any token: in Authorization, in the header for keys, or in its query.
bool brings_token(const ServerOptions& options, const http::Request& request);

// Whether ServerOptions::key_header may have this name: no other part of the program reads such a header.
bool may_be_key_header(std::string_view name);

// An operator or viewer of this server, identified by a token or a session.
struct Operator {
  std::string name;      // the token's caller, as recorded in the audit log
  bool may_act = false;  // false: a viewer
  // The further rights of the token: no operator makes a key that allows more.
  Scopes scopes = Scopes::all();
  std::vector<std::string> agents = {};  // empty: all
  bool binds_children = false;
};

// The operator or viewer identified by the request's bearer token, or by its session if it has none. Fails
// with unauthenticated (no token or an unknown one) or permission_denied (a caller's token, or as
// session_of).
base::Result<Operator> authenticate_operator(const ServerOptions& options, const http::Request& request);

// Returns false if a page of another origin sent the request, even one that the CORS options allow. The
// request must have no Origin header, or this server's (own_origin); and no Sec-Fetch-Site header that is
// cross-site or same-site.
bool is_of_own_page(const ServerOptions& options, const http::Request& request);

// Whether a large body after this head may be buffered before the request is authenticated. It may if the
// head has a known token, or has none and anonymous callers are admitted. Any head may if no tokens are
// configured, or if no caller has a token and anonymous callers are admitted.
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
