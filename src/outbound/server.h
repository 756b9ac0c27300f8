// Server: a server elsewhere, and how requests to it are authenticated.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "outbound/proxy.h"

namespace baton::outbound {

struct Server {
  // A caller's own credentials are never passed on. For `exchange`, see below.
  enum class Auth { none, bearer, api_key, oauth };
  // The owner of a token of `oauth`: Baton itself (client credentials), or the caller of each turn, in
  // exchange for the access token that the caller came with, which goes to the token endpoint only.
  enum class Exchange {
    none,
    token_exchange,  // RFC 8693
    on_behalf_of,    // Microsoft Entra ID's form: RFC 7523 with `requested_token_use`
  };

  std::string url;  // may be empty for executor openai, if the variable that may name it is not set
  Auth auth = Auth::none;
  std::string auth_header;  // of api_key
  std::string secret_env;   // the variable that holds the secret; empty: none
  std::filesystem::path secret_file;
  bool secret_optional = false;  // of bearer and api_key: requests may go out without one
  // For oauth: the token endpoint, and the members of requests to it.
  std::string token_url, client_id, scope, audience, resource;
  // The client's private key, in place of a secret (RFC 7523): PEM or a JWK; empty: none.
  std::filesystem::path private_key_file;
  std::string key_id;  // the name of that key; empty: the JWK's own, or else the thumbprint
  Exchange exchange = Exchange::none;
  bool names_actor = false;   // token_exchange: the request has an `actor_token`, signed with the private key
  std::string authorize_url;  // where a caller consents if an exchange is refused; empty: nowhere
  std::optional<Proxy> proxy;   // instead of that of the setting; an empty URL: none
  bool secret_in_body = false;  // client_id and secret go in the body, not in a header
};

}  // namespace baton::outbound
