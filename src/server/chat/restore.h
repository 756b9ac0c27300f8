// Restores a conversation for a client that has none of it.
//
// Threads: any; reads the store.
#pragma once

#include <vector>

#include "engine/task_service.h"

namespace baton::server::chat {

// The tasks of a conversation, newest first.
struct Said {
  std::vector<task::TaskHead> tasks;
  std::size_t bytes = 0;  // of logs in memory at once while the conversation is read
};
base::Result<Said> said_in(const engine::TaskService& tasks, const task::Caller& caller,
                           const task::AgentName& agent, const task::ContextId& context);

// The conversation's messages, oldest first; omits the oldest ones if they are too many.
base::Result<std::vector<task::Message>> messages_in(const engine::TaskService& tasks,
                                                     const task::Caller& caller, const task::AgentName& agent,
                                                     const task::ContextId& context);
base::Result<std::vector<task::Message>> messages_of(const engine::TaskService& tasks, const Said& read_from);

}  // namespace baton::server::chat
