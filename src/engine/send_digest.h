// What makes one send the repetition of another: who says what to whom, and where.
//
// Threads: any; pure.
#pragma once

#include "store/task_store.h"

namespace baton::engine {

// Of caller, agent, target (task and context as given) and message. What comes along beside the message
// (request metadata, output modes, webhook) does not count.
task::SendDigest digest_of(const task::Submission& submission);

// Of a request by the name its client gave it in a context, whatever it says. Never that of a message.
task::SendDigest digest_of_name(const task::Caller& caller, const task::AgentName& agent,
                                const task::ContextId& context, const std::string& name);

}  // namespace baton::engine
