// Admits the callers of MCP requests to the agents that they may use. On the path of one agent the pipeline
// has admitted the caller; on the path of all, the body names the agent, and the caller is admitted here.
//
// Threads: any. `admitted_for_task` and `admitted_for_tasks` read the store.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "server/mcp/mcp.h"

namespace baton::server::mcp {

using Tool = agents::Catalogue::Tool;

// The tools that the caller may use, in the order of the catalogue; on the path of one agent, in that of its
// skills.
std::vector<const Tool*> tools_for(const Entry& entry, const http::Request& head);

// The request as one for the tool's agent; nullopt if there is no such tool or the caller may not use it.
struct ToolRequest {
  const Tool* tool;
  Admitted by;
};
std::optional<ToolRequest> admitted_for_tool(const Entry& entry, const http::Request& head,
                                             std::string_view name);

// The request as one for the first agent that the caller may use; nullopt if it may use none.
std::optional<Admitted> admitted_for_any(const Entry& entry, const http::Request& head);

// The request as one for the agent that has the caller's task; nullopt if there is no such task.
std::optional<Admitted> admitted_for_task(const Entry& entry, const http::Request& head,
                                          const task::TaskId& id);
// Does so for several ids; the result has their order.
std::vector<std::optional<Admitted>> admitted_for_tasks(const Entry& entry, const http::Request& head,
                                                        std::span<const task::TaskId> ids);

}  // namespace baton::server::mcp
