// The console, the operators' web page, the chat page, and the start page, whose files lie beside this header
// and are embedded in the program.
//
// Pure functions. The pages hold nothing secret and need no token; all they show comes from the operator API,
// from GET /agents, and over A2A.
#pragma once

#include <span>
#include <string>

#include "http/http_server.h"
#include "server/shared/path_table.h"

namespace baton::server::console {

// Where the pages are served. Both answer every method themselves.
std::span<const PathRow> paths();

// The file at a path of these, or the page where the path names no file, as each view of it
// has a URL of its own. Unknown files get 404, methods other than GET and HEAD 405, a file the browser
// already has 304. The headers forbid inline scripts, frames and all other origins.
http::Reply reply_to(const http::Request& request);

// Adds the headers that forbid inline scripts, frames and all other origins.
http::Reply with_protection(http::Reply reply);

// Which pages the program serves to this caller, and the URL of its root, without a slash at the end.
struct Served {
  std::string root;
  bool chat = false;
  bool console = false;
};

// The answer to a GET of the root: the start page if Accept lists text/html but not application/json,
// otherwise what this program is and where its parts are, as JSON. Neither depends on the caller or names an
// agent: the page gets the agents from GET /agents, with the visitor's token.
http::Reply start_reply(const http::Request& request, const Served& served);

}  // namespace baton::server::console
