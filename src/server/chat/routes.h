// Routes: the chat protocols' paths, below each agent and, for the default agent, at the root.
//
// Threads: any.
#pragma once

#include <memory>
#include <span>

#include "server/chat/call.h"
#include "server/shared/path_table.h"

namespace baton::server::chat {

using Handler = void (*)(const CallPtr&);

// The protocols' paths.
std::span<const PathRow> paths();

// Handles an admitted request to one of these paths.
void handle(RunClaims& claims, std::shared_ptr<http::Exchange> exchange, const Admitted& by, Handler handler);

}  // namespace baton::server::chat
