// Conversations as pages list them, below each agent:
//
//   GET    /conversations       the caller's, newest first: pageSize, pageToken
//   GET    /conversations/<id>  one with its messages, the newest page first: shape (a2a or ag-ui), pageSize,
//                               pageToken
//   PATCH  /conversations/<id>  {"title": "..."} gives it a title, null takes that away
//   DELETE /conversations/<id>  removes it with all its tasks; what is under way is canceled first
//   GET    /conversations/<id>/events   its runs as they come (conversation_events.h)
//
// Threads: any; reads the store.
#pragma once

#include <memory>
#include <span>

#include "http/http_server.h"
#include "server/shared/endpoint.h"
#include "server/shared/path_table.h"
#include "task/task.h"

namespace baton::server::chat {

std::span<const PathRow> conversation_paths();

// Answers an authenticated caller's request with one of the paths' methods. `id`: the path's; empty: all.
void handle_conversations(std::shared_ptr<http::Exchange> exchange, const Admitted& by, task::ContextId id);

}  // namespace baton::server::chat
