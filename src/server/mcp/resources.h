// Resources: the parts of the caller's tasks that results link to. None is listed; a link is enough to read
// one.
//
// Threads: on threads that may block.
#pragma once

#include "protocol/mcp/resources.h"
#include "server/mcp/call.h"

namespace baton::server::mcp {

// resources/read. `uri`: as the client gave it.
void read_resource(const McpCallPtr& call, const protocol::mcp::ResourceName& name, const std::string& uri);

// Fails the request: there is no such resource.
protocol::mcp::Failure no_such_resource(const protocol::mcp::Request& request, std::string_view uri);

}  // namespace baton::server::mcp
