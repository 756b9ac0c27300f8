// subscriptions/listen of revision 2026-07-28: a stream of what the client asks to hear of, which is the
// status of its tasks. It lasts until the client closes it. Nothing is sent twice: a client that comes back
// asks again.
//
// Threads: on threads that may block.
#pragma once

#include <vector>

#include "server/mcp/call.h"

namespace baton::server::mcp {

inline constexpr std::size_t kListenTasksMax = 100;

// A task to hear of: the request as one for the task's agent.
struct Heard {
  McpCallPtr call;
  task::TaskId id;
};

// Answers `call` with the stream.
void listen(const McpCallPtr& call, std::vector<Heard> tasks);

}  // namespace baton::server::mcp
