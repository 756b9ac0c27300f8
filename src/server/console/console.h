// The console, the operators' web page, and the chat page, whose files lie beside this header and are
// embedded in the program.
//
// Pure functions. The pages hold nothing secret and need no token; all they show comes from the operator API
// and over A2A.
#pragma once

#include <span>

#include "http/http_server.h"
#include "server/shared/path_table.h"

namespace baton::server::console {

// Where the pages are served. Both answer every method themselves.
std::span<const PathRow> paths();

// The file at a path of these, or the page where the path names no file, as each view of it
// has a URL of its own. Unknown files get 404, methods other than GET and HEAD 405, a file the browser
// already has 304. The headers forbid inline scripts, frames and all other origins.
http::Reply reply_to(const http::Request& request);

}  // namespace baton::server::console
