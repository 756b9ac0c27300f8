// Answers that are the same for every protocol.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "http/http_server.h"

namespace baton::server {

// {"error":"<reason>"}, for errors before the protocol is known. 401 says how to authenticate; 429 and 503
// when to retry.
http::Reply plain_error(int status, std::string_view reason);

// The answer to a refusal by `authenticate` or for a path: 401 with WWW-Authenticate, 403 or 404.
http::Reply refusal(const base::Error& error);

}  // namespace baton::server
