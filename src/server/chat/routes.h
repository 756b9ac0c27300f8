// The paths of the chat protocols, below each agent and, for the default agent, at the root.
//
// Threads: any.
#pragma once

#include <memory>
#include <string_view>

#include "server/chat/call.h"

namespace baton::server::chat {

using Door = void (*)(const CallPtr&);

// What a POST to this path of an agent does, or null.
Door find_door(std::string_view path);

// A request to such a path by a caller who is known.
void handle(const Services& services, RunClaims& claims, std::shared_ptr<http::Exchange> exchange,
            const agents::Agent& agent, task::Caller caller, Door door);

}  // namespace baton::server::chat
