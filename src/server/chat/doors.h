// What each path of the chat protocols does; routes.cpp lists them. A protocol has one file here.
//
// Threads: on the server's workers, several at a time.
#pragma once

#include "server/chat/call.h"

namespace baton::server::chat {

// send_message.cpp: AG-UI or AG-Kit, which share a path and are told apart by the body; and AG-UI alone.
void send_message(const CallPtr& call);
void ag_ui(const CallPtr& call);

// agent_api.cpp: a run; and the end of what runs in a session.
void process(const CallPtr& call);
void stop(const CallPtr& call);

// agent_server.cpp
void stream(const CallPtr& call);

}  // namespace baton::server::chat
