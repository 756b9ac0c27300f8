// The console, the operators' web page, and the chat page, whose files lie beside this header and are
// embedded in the program.
//
// Pure functions. The pages hold nothing secret and need no token; all they show comes from the operator API
// and over A2A.
#pragma once

#include <string_view>

#include "http/http_server.h"

namespace baton::server::console {

// Whether the path is "/console" or below it.
bool serves(std::string_view path);

// Whether the path is "/chat" or names a file below it. Other paths below it are a tenant's.
bool serves_chat(std::string_view path);

// The file at a path that one of these names, or the page where the path names no file, as each view of it
// has a URL of its own. Unknown files get 404, methods other than GET and HEAD 405, a file the browser
// already has 304. The headers forbid inline scripts, frames and all other origins.
http::Reply reply_to(const http::Request& request);

}  // namespace baton::server::console
