// Admits the callers of requests whose path names no agent: the body names it, or a task.
//
// The head of such a request only shows that the caller may use some agent (refused_everywhere). Each agent
// that the body leads to is then checked like one in a path.
// Threads: any. `admitted_for` reads the store.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "server/shared/endpoint.h"

namespace baton::server {

// Where such a request came in. MCP and OpenAI's API add members of their own.
struct Entry {
  const Services& services;
  std::string_view address;  // see Endpoint
  RequestNotePtr note = {};  // null: requests are not recorded
};

// The error if the caller may use no agent at all.
std::optional<base::Error> refused_everywhere(const Services& services, const http::Request& request);

// The request as one for this agent; nullopt if the caller may not use it.
std::optional<Admitted> admitted_at(const Entry& entry, const http::Request& head,
                                    const agents::Agent& agent);

// Whether a task can have this id: it is not empty, nor longer than other requests may name it.
bool may_be_id(const task::TaskId& id);

// The request as one for the agent, of these, that has the caller's task; nullopt if there is no such task.
std::optional<Admitted> admitted_for(const Entry& entry, const http::Request& head,
                                     std::span<const agents::Agent* const> agents, const task::TaskId& id);
// Does so for several ids; the result has their order. The caller is checked once for each agent.
std::vector<std::optional<Admitted>> admitted_for(const Entry& entry, const http::Request& head,
                                                  std::span<const agents::Agent* const> agents,
                                                  std::span<const task::TaskId> ids);

}  // namespace baton::server
