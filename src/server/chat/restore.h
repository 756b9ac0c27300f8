// What was said in a conversation, for a client that has none of it.
//
// Threads: any; reads the store.
#pragma once

#include <vector>

#include "engine/task_service.h"

namespace baton::server::chat {

// The tasks a conversation is read from, newest first.
struct Said {
  std::vector<task::TaskHead> tasks;
  std::size_t bytes = 0;  // of logs that are in memory at once while it is read
};
base::Result<Said> said_in(const engine::TaskService& tasks, const task::Caller& caller,
                           const task::AgentName& agent, const task::ContextId& context);

// Oldest first; the oldest messages are left out where it would be too much.
base::Result<std::vector<task::Message>> messages_in(const engine::TaskService& tasks,
                                                     const task::Caller& caller, const task::AgentName& agent,
                                                     const task::ContextId& context);
base::Result<std::vector<task::Message>> messages_of(const engine::TaskService& tasks, const Said& read_from);

}  // namespace baton::server::chat
