// Send digests: idempotency keys, which identify a repeated send.
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

// The digest of a turn's delegation: the `nth` one that its agent makes under this name, from 1. A turn that
// runs again and delegates the same gets the same child.
task::SendDigest digest_of_call(const task::TaskHead& parent, const std::string& call, int nth,
                                const task::Submission& submission);

// The digest of the answer to the question with this id in the parent's log.
task::SendDigest digest_of_answer(const task::TaskHead& parent, const std::string& ask);

}  // namespace baton::engine
