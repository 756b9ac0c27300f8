// Run: from a request of a chat protocol to its answer, the same way for every protocol.
//
// A request that comes back with Last-Event-ID or with the name of an earlier run is shown that run and
// nothing is submitted. Otherwise it becomes a message to a new task or to one that waits, and the answer is
// the run that follows.
// Threads: on the server's workers, several at a time.
#pragma once

#include "server/chat/call.h"

namespace baton::server::chat {

void run(const CallPtr& call, const wire::chat::Protocol& protocol);

}  // namespace baton::server::chat
