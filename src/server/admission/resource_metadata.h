// Protected resource metadata (RFC 9728): tells clients without a valid token which authorization servers
// give out tokens for this server, and what a 401 says about it.
//
// The whole server is a resource, and so are each agent, the MCP endpoint of all agents and that of each one.
// Threads: any; pure.
#pragma once

#include <string>
#include <string_view>

#include "http/http_server.h"
#include "server/shared/options.h"

namespace baton::server {

// The place of every resource's metadata, before the resource's own path.
inline constexpr std::string_view kMetadataPath = "/.well-known/oauth-protected-resource";

// The path of the resource that a request's path belongs to: "", "/mcp", "/agents/echo" or
// "/agents/echo/mcp".
std::string resource_path(std::string_view path);

// The answer for a resource that is there. It lists the scopes that a client must ask for. `path`: see
// resource_path; `name`: of the resource, for people.
http::Reply metadata_reply(const ServerOptions& options, const http::Request& request, std::string_view path,
                           std::string_view name);

// Completes the challenge of an answer (WWW-Authenticate): adds the place of the metadata, says if a token is
// wrong, and adds the scopes of the request's access token to the scope that it lacks. Changes nothing if
// there are no authorization servers, or no challenge.
void complete_challenge(const ServerOptions& options, const http::Request& request, http::Reply& reply);

}  // namespace baton::server
