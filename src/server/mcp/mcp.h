// The agents as tools of the Model Context Protocol (protocol/mcp/mcp.h): POST /agents/<name>/mcp for one,
// and POST /mcp for all that the caller may use, each a tool with the agent's name.
//
// A call of a tool is a task; what it waits for is in the task's log, so that it outlives its client and this
// program. A client with the tasks extension gets a handle, the task's id, for a call that takes longer than
// ServerOptions::mcp_handle_after; for others the answer is a stream with progress, which legacy clients take
// up again by GET with Last-Event-ID. GET without it is a legacy session's stream of changes. Closing the
// stream of a modern call cancels its task, as the revision demands; a legacy client may come back.
//
// Threads: on the loop; calls block before they read the store.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "server/admission/admit_by_body.h"
#include "server/mcp/list_changes.h"
#include "server/mcp/running_calls.h"

namespace baton::server::mcp {

// Where a request came in.
struct Entry : server::Entry {
  std::optional<Admitted> at;  // the path of one agent, with its caller; unset: the path of all
  std::function<void(const agents::Agent&)> reached;  // told once, which agent the request is for
  const RunningCalls& running;
  const ListChanges& list_changes;
};

// Handles a POST or a GET of an origin that may call.
void handle(std::shared_ptr<http::Exchange> exchange, Entry entry);

}  // namespace baton::server::mcp
