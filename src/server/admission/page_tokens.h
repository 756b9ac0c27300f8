// Page tokens: tokens for the browsers of a page's users. The page's server requests one for each user with
// its own token, which stays secret; a page of ours requests one for the person who has signed in. It is
// stored nowhere, so every node accepts it. It is valid until it expires, and never longer than what it was
// made from: a token or certificate of the configuration, an API key, a JWT or a session. One from a JWT or a
// certificate lives for an hour at most, as nothing here learns that these were revoked. A stream that is
// already open stays open.
//
// Made from a token of the configuration it is "bp1.<payload>.<signature>": the payload is base64url of JSON
// (caller, user, agent, until in seconds since 1970), the signature HMAC-SHA256 of "bp1.<payload>" in
// hexadecimal, its key the secret of that token. Else it is "bp2." and a text that TokenSecret signs, whose
// payload also says what it was made from. Threads: any; pure.
#pragma once

#include <optional>
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

// The credential that a page token is made from.
struct PageSource {
  enum class Kind { token, certificate, api_key, jwt, session };
  Kind kind = Kind::token;
  std::string name;  // of the certificate or the issuer; the id of the key or the session; empty for a token
  TokenPtr token;    // whose rights the page token has
  std::optional<base::Timestamp> until = {};  // its end; nullopt: it has none
  std::string rules = {};  // of the issuer or of sign-in, read before `token`; empty for the other kinds
};

// Fails with invalid_argument if the token would be too long.
base::Result<std::string> make_page_token(const ServerOptions& options, const PageGrant& grant,
                                          const PageSource& source);

// A page's caller, with the user as its tenant, and the rights of its token.
struct PageCaller {
  task::Caller caller;
  TokenPtr rights;
};
// Fails with unauthenticated (the token or what it was made from has ended, or nobody here has signed it) or
// permission_denied (it is not for this agent). An empty `agent` skips the check for the agent.
base::Result<PageCaller> identify_page(const ServerOptions& options, std::string_view token,
                                       const task::AgentName& agent, base::Timestamp now);

// Reads the body of POST /tokens, {"user", "agent"?, "seconds"?}. A session needs no user. Fails with
// invalid_argument, or with unauthenticated if the source ends now.
base::Result<PageGrant> read_page_grant(std::string_view body, const PageSource& by, base::Timestamp now);

}  // namespace baton::server
