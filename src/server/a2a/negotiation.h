// Negotiation: which version and which extensions a request asks for (wire/a2a/README.md, 2).
#pragma once

#include <optional>
#include <string_view>

#include "base/error.h"
#include "server/a2a/call.h"

namespace baton::server::a2a {

// The value of A2A-Version, from the header or else the query; empty if absent or empty. A patch number is
// ignored. Fails with version_not_supported.
base::Result<std::optional<task::Generation>> version_of(const http::Request& request);

// The requested extensions that the agent, or Baton on its behalf, supports.
Extensions extensions_of(const http::Request& request, const task::AgentCard& card);

// Whether the Content-Type is application/json or application/a2a+json.
bool is_json(const http::Request& request);

// Fails with invalid_argument for a tenant that cannot be part of a path.
base::Result<void> check_tenant(std::string_view tenant);
// Moves the call into the tenant that its params name, if any.
base::Result<void> enter_tenant(Call& call);
// The caller within a tenant. Tasks of one tenant are not visible in another (wire/a2a/README.md, 2).
task::Caller caller_in(std::string_view tenant, const task::Caller& caller);

}  // namespace baton::server::a2a
