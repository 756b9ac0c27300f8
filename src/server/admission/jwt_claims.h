// Claims: what the claims of an issuer's access token mean (RFC 7519, RFC 9068), as rules per issuer.
//
// The signature has been checked before. Threads: any; pure.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "jose/key.h"
#include "server/shared/options.h"

namespace baton::server {

// An authorization server whose access tokens are accepted.
struct Issuer {
  std::string url;                     // the claim `iss`, byte by byte
  std::vector<std::string> audiences;  // one must be in `aud`; empty: the resources below public_url
  // Clients whose tokens need no `aud`, by the token's `client_id`. Cognito writes no audience.
  std::vector<std::string> clients;
  std::vector<jose::Algorithm> algorithms{jose::Algorithm::rs256, jose::Algorithm::ps256,
                                          jose::Algorithm::es256, jose::Algorithm::eddsa};
  bool any_typ = false;  // accepts `typ` JWT and none, too, not only at+jwt
  std::chrono::seconds skew{60};
  std::string subject_claim = "sub";
  // A claim's name, or a path of members, separated by dots; the members' names may have dots, too.
  std::string roles_claim = "roles";
  std::vector<std::string> viewer_roles, operator_roles;  // the roles' names at the issuer
  // Names or paths like roles_claim. `scope` is RFC 9068's; Entra and Okta write `scp`.
  std::vector<std::string> scope_claims{"scope", "scp"};
  std::string scope_prefix;         // of the names of scopes: "baton:" makes send "baton:send"
  Scopes scopes;                    // every token has these
  std::vector<std::string> agents;  // that its tokens are valid for; empty: all
  std::string agents_claim;         // names the token's agents; empty: no claim does
  std::string keys_url;             // of the key set; empty: found by discovery
  std::string keys_file;            // the key set itself; empty: it is fetched

  friend bool operator==(const Issuer&, const Issuer&) = default;
};

// The caller of a token: "<issuer>\x01<subject>", so that no two issuers share one.
task::Caller caller_of(std::string_view issuer, std::string_view subject);

// The issuer of such a caller; empty for any other.
std::string issuer_of(const task::Caller& caller);

struct Claimed {
  Token token;                      // its secret is empty
  base::Timestamp expires{};        // `exp`
  base::Timestamp until{};          // the same with the skew
  std::vector<std::string> actors;  // who acts for the caller (RFC 8693), the last one first
};

// The names in `typ` that access tokens may have.
bool is_access_token(const Issuer& issuer, std::string_view typ);

// Reads the claims, a JSON object. `public_url`: of this server; empty: only `audiences` count. A token whose
// only fitting audience is an agent's own URL is valid for that agent alone. Fails with unauthenticated;
// `for_log` has the reason.
base::Result<Claimed> read_claims(const Issuer& issuer, std::string_view public_url, std::string_view claims,
                                  base::Timestamp now);

// Who may sign in with ID tokens of an issuer, in addition to the issuer's rules.
struct SignInRules {
  std::string issuer;  // its url
  std::string client_id;
  std::vector<std::string> caller_roles;  // roles at the issuer that make a caller; "*": everybody may

  friend bool operator==(const SignInRules&, const SignInRules&) = default;
};
struct SignedIn {
  Token token;       // has all scopes
  std::string name;  // for people
  base::Timestamp until{};
};

// The names in `typ` that ID tokens may have.
bool is_id_token(std::string_view typ);

// Reads the claims of an ID token (OpenID Connect Core, 3.1.3.7). They mean what they mean in an access
// token, but its audience is the client. Fails with unauthenticated (`for_log` has the reason), or with
// permission_denied if no role of the person may use this server.
base::Result<SignedIn> read_id_claims(const Issuer& issuer, const SignInRules& rules, std::string_view nonce,
                                      std::string_view claims, base::Timestamp now);

}  // namespace baton::server
