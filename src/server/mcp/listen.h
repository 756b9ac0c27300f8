// Streams of what a client asks to hear of: the status of its tasks, and changes of its list of tools. A
// modern client asks by subscriptions/listen; a legacy session hears of its tools on a stream that it opens
// by GET. A stream lasts until the client closes it. Nothing is sent twice: a client that comes back asks
// again.
//
// Threads: on threads that may block.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "server/mcp/call.h"
#include "server/mcp/list_changes.h"

namespace baton::server::mcp {

inline constexpr std::size_t kListenTasksMax = 100;

// A task to hear of: the request as one for the task's agent.
struct Heard {
  McpCallPtr call;
  task::TaskId id;
};

// A list of tools to hear of.
struct HeardList {
  ListChanges changes;
  std::function<std::string()> read;  // on any thread
};

// Answers `call` with the stream. `find`: finds the tasks; called once, if there is a place for the stream.
void listen(const McpCallPtr& call, const std::function<std::vector<Heard>()>& find,
            std::optional<HeardList> list);

}  // namespace baton::server::mcp
