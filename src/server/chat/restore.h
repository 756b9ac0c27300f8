// What was said in a conversation, for a client that has none of it.
//
// Threads: any; reads the store.
#pragma once

#include <vector>

#include "engine/task_service.h"

namespace baton::server::chat {

// Oldest first, of the newest tasks of a context; the oldest messages are left out where it would be too
// much.
base::Result<std::vector<task::Message>> messages_in(const engine::TaskService& tasks,
                                                     const task::Caller& caller, const task::AgentName& agent,
                                                     const task::ContextId& context);

}  // namespace baton::server::chat
