// Page tokens: tokens for the browsers of a page's users. The page's server requests one for each user with
// its own token, which stays secret. A page token is signed with that token and stored nowhere, so every node
// accepts it. It is valid until it expires or the server's own token is removed. A stream that is already
// open stays open.
//
// A token is "bp1.<payload>.<signature>": the payload is base64url of JSON (caller, user, agent, until in
// seconds since 1970), the signature HMAC-SHA256 of "bp1.<payload>" in hexadecimal, its key the secret of the
// caller's token. Threads: any; pure.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "server/shared/options.h"

namespace baton::server {

// The rights of a page token. Its user becomes a tenant of the caller: it has its own tasks, and shares the
// caller's limits.
struct PageGrant {
  task::Caller caller;
  std::string user;
  std::string agent;  // the only agent it may call; empty: all that the caller may call
  base::Timestamp until{};
};

bool is_page_token(std::string_view token);

// `secret`: the secret of a token of the grant's caller.
std::string make_page_token(const PageGrant& grant, std::string_view secret);

// Returns the caller with the user as its tenant. Fails with unauthenticated (the token has expired, or is
// not signed with a valid caller's token) or permission_denied (it is not for this agent). An empty `agent`
// skips the check for the agent.
base::Result<task::Caller> caller_of_page(const std::vector<Token>& tokens, std::string_view token,
                                          const task::AgentName& agent, base::Timestamp now);

// A page's caller, and the token that signed the page token: one of `tokens`.
struct PageCaller {
  task::Caller caller;
  const Token& signer;
};
// Like `caller_of_page`, but also returns the signing token.
base::Result<PageCaller> identify_page(const std::vector<Token>& tokens, std::string_view token,
                                       const task::AgentName& agent, base::Timestamp now);

// Reads the body of POST /tokens, {"user", "agent"?, "seconds"?}. Fails with invalid_argument.
base::Result<PageGrant> read_page_grant(std::string_view body, const Token& by, base::Timestamp now);

}  // namespace baton::server
