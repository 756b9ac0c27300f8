// Tokens for pages: a page's server has one made with its own token for each of its users, and gives that to
// the user's browser; its own token stays with it. They are signed with that token and stored nowhere, so
// every node knows them, and they are good until their time is over or the server's own token is gone. A
// stream that is open then goes on.
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

// What a page's token is good for. The user is a tenant of the caller: has tasks of its own, and the caller's
// limits.
struct PageGrant {
  task::Caller caller;
  std::string user;
  std::string agent;  // empty: all that the caller may call
  base::Timestamp until{};
};

bool is_page_token(std::string_view token);

// `secret`: of a token of the grant's caller.
std::string make_page_token(const PageGrant& grant, std::string_view secret);

// The caller within the grant. Fails with unauthenticated (it is not signed with a caller's token that is
// good now, or its time is over) or permission_denied (it is not for this agent). `agent`: empty: whichever.
base::Result<task::Caller> caller_of_page(const std::vector<Token>& tokens, std::string_view token,
                                          const task::AgentName& agent, base::Timestamp now);

// The same with the token that has signed it, which is one of `tokens`.
struct PageCaller {
  task::Caller caller;
  const Token& signer;
};
base::Result<PageCaller> identify_page(const std::vector<Token>& tokens, std::string_view token,
                                       const task::AgentName& agent, base::Timestamp now);

// Reads the body of POST /tokens, {"user", "agent"?, "seconds"?}. Fails with invalid_argument.
base::Result<PageGrant> read_page_grant(std::string_view body, const Token& by, base::Timestamp now);

}  // namespace baton::server
