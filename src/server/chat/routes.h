// Routes: the chat protocols' paths, below each agent and, for the default agent, at the root.
//
// Threads: any.
#pragma once

#include <memory>
#include <string_view>

#include "server/chat/call.h"

namespace baton::server::chat {

using Door = void (*)(const CallPtr&);

// The handler of a POST to this path of an agent, or null.
Door find_door(std::string_view path);

// The protocol of requests to such a path.
Protocol protocol_of(std::string_view path);

// Handles a request to such a path that has been admitted.
void handle(RunClaims& claims, std::shared_ptr<http::Exchange> exchange, const Admitted& by, Door door);

}  // namespace baton::server::chat
