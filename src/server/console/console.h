// The console: the operators' web page, whose files lie beside this header and are embedded in the program.
//
// Pure functions. The page holds nothing secret and needs no token; all it shows comes from the operator API.
#pragma once

#include <string_view>

#include "http/http_server.h"

namespace baton::server::console {

// Whether the path is "/console" or below it.
bool serves(std::string_view path);

// The file at a path that `serves` names, or index.html where the path names no file, as each view of the
// page has a URL of its own. Unknown files get 404, methods other than GET and HEAD 405, a file the browser
// already has 304. The headers forbid inline scripts, frames and all other origins.
http::Reply reply_to(const http::Request& request);

}  // namespace baton::server::console
