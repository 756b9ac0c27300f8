// Doors: the handlers of the chat protocols' paths, listed in routes.cpp. Each protocol has its own file.
//
// Threads: on the server's workers, several at a time.
#pragma once

#include "server/chat/call.h"

namespace baton::server::chat {

// send_message.cpp: AG-UI or AG-Kit, which share a path and are distinguished by the body; and AG-UI alone.
void send_message(const CallPtr& call);
void ag_ui(const CallPtr& call);

// agent_api.cpp: starts a run; stops a session's runs.
void process(const CallPtr& call);
void stop(const CallPtr& call);

// agent_server.cpp
void stream(const CallPtr& call);

}  // namespace baton::server::chat
