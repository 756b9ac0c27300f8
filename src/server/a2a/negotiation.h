// Negotiation: which version and which extensions a request asks for (wire/a2a/README.md, 2).
#pragma once

#include <optional>
#include <string_view>

#include "base/error.h"
#include "server/a2a/call.h"

namespace baton::server::a2a {

// What A2A-Version says, as a header or, where there is none, as a query parameter. Nothing where it is
// absent or empty; a patch number is ignored; fails with version_not_supported.
base::Result<std::optional<task::Generation>> version_of(const http::Request& request);

// The extensions that the request asks for and the agent, or Baton in its place, has.
Extensions extensions_of(const http::Request& request, const task::AgentCard& card);

// Application/json or A2A's own, or not said.
bool is_json(const http::Request& request);

// Fails with invalid_argument for a tenant that no path could carry.
base::Result<void> check_tenant(std::string_view tenant);
// The tenant that the call's params name, if any.
base::Result<void> enter_tenant(Call& call);
// Who calls, within a tenant: tasks of one are not seen from another (wire/a2a/README.md, 2).
task::Caller caller_in(std::string_view tenant, const task::Caller& caller);

}  // namespace baton::server::a2a
