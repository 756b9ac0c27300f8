// Listing: the answers that describe the server and its tools. Text of cards reaches other people's models,
// so it is bounded and has no control characters.
//
// Threads: any.
#pragma once

#include <string>
#include <vector>

#include "protocol/mcp/mcp.h"
#include "server/mcp/admit.h"

namespace baton::server::mcp {

// The answer to `initialize`.
std::string initialized(const Services& services, const protocol::mcp::Request& request);
// The answer to server/discover.
std::string discovered(const Services& services, const protocol::mcp::Request& request);
// Writes the members that say how long a client may keep an answer, which is for this caller only.
void write_caching(json::Writer& out);
// The answer to a list that is always empty: its one member.
std::string nothing_listed(const Services& services, const protocol::mcp::Request& request,
                           std::string_view member);
// The answer to tools/list.
std::string tools_listed(const Services& services, const protocol::mcp::Request& request,
                         const std::vector<const Tool*>& tools);

}  // namespace baton::server::mcp
