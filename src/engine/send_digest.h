// Send digests: the idempotency keys by which a repeated send is recognised.
//
// Threads: any; pure.
#pragma once

#include "store/task_store.h"

namespace baton::engine {

// The digest of caller, agent, target (task and context as given) and message. Request metadata, output modes
// and webhook do not count.
task::SendDigest digest_of(const task::Submission& submission);

// The digest of a request by the name that its client gave it in a context, whatever its content. Never
// equals a message's digest.
task::SendDigest digest_of_name(const task::Caller& caller, const task::AgentName& agent,
                                const task::ContextId& context, const std::string& name);

}  // namespace baton::engine
