// GET /conversations/<id>/events below each agent: a conversation's runs as AG-UI events, from its messages
// on or after Last-Event-ID.
//
// Threads: any; reads the store.
#pragma once

#include <memory>

#include "http/http_server.h"
#include "server/shared/endpoint.h"
#include "task/task.h"

namespace baton::server::chat {

// Answers an authenticated caller's request with a stream that does not end.
void handle_conversation_events(std::shared_ptr<http::Exchange> exchange, const Admitted& by,
                                task::ContextId id);

}  // namespace baton::server::chat
