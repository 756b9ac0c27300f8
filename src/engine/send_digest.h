// What makes one send the repetition of another: who says what to whom, and where.
//
// Threads: any; pure.
#pragma once

#include "store/task_store.h"

namespace baton::engine {

// Of caller, agent, target (task and context as given) and message. What comes along beside the message
// (request metadata, output modes, webhook) does not count.
store::SendDigest digest_of(const task::Submission& submission);

}  // namespace baton::engine
