// Server: a server elsewhere, and how requests to it are authenticated.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "outbound/proxy.h"

namespace baton::outbound {

struct Server {
  // A caller's own credentials are never sent.
  enum class Auth { none, bearer, api_key, oauth };

  std::string url;  // may be empty for executor openai, if the variable that may name it is not set
  Auth auth = Auth::none;
  std::string auth_header;  // of api_key
  std::string secret_env;   // the variable that holds the secret; empty: none
  std::filesystem::path secret_file;
  bool secret_optional = false;  // of bearer and api_key: requests may go out without one
  // For oauth: the token endpoint, and the members of requests to it.
  std::string token_url, client_id, scope, audience;
  std::optional<Proxy> proxy;   // instead of that of the setting; an empty URL: none
  bool secret_in_body = false;  // client_id and secret go in the body, not in a header
};

}  // namespace baton::outbound
