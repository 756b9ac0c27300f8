// Negotiation: which version and which extensions a request asks for (protocol/a2a/README.md, 2).
//
// Threads: pure functions. Views in Extensions are of literals.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "http/http_server.h"
#include "task/card.h"
#include "task/task.h"

namespace baton::server::a2a {

// The extensions a request activates.
struct Extensions {
  std::string_view header;          // names them in the answer: the header the client used
  std::vector<std::string> active;  // the agent's
  std::string missing;              // one the agent requires and the request does not activate
  bool numbers = false;             // Baton's own
};

// The version that A2A-Version names, from the header or else the query; empty if absent or empty. A patch
// number is ignored. Fails with version_not_supported.
base::Result<std::optional<task::ProtocolVersion>> version_of(const http::Request& request);

// The requested extensions that the agent, or Baton on its behalf, supports.
Extensions extensions_of(const http::Request& request, const task::AgentCard& card);

// Whether the Content-Type is application/json or application/a2a+json.
bool is_json(const http::Request& request);

}  // namespace baton::server::a2a
