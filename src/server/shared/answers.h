// Answers that are the same for every protocol.
#pragma once

#include <memory>
#include <string_view>

#include "base/error.h"
#include "http/http_server.h"

namespace baton::server {

// Returns {"error":"<reason>"}, for errors before the protocol is known. A 401 has WWW-Authenticate; 429 and
// 503 have Retry-After.
http::Reply plain_error(int status, std::string_view reason);

// Returns the answer to a request that `authenticate` refuses or whose path is unknown: 401 with
// WWW-Authenticate, 403 or 404.
http::Reply refusal(const base::Error& error);

}  // namespace baton::server
