// Run: handles a chat request from decoding to answer, the same for every protocol.
//
// A request with Last-Event-ID or the name of an earlier run is answered with that run and submits nothing.
// Any other becomes a message to a new or waiting task, and the answer is the run that follows.
// Threads: on the server's workers, several at a time.
#pragma once

#include "server/chat/call.h"

namespace baton::server::chat {

void run(const CallPtr& call, const protocol::chat::Protocol& protocol);

}  // namespace baton::server::chat
