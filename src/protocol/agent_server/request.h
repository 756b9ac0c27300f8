// The body of the Agent Server's POST /stream. Threads: any; stateless.
#pragma once

#include "json/document.h"
#include "protocol/chat/run_request.h"

namespace baton::protocol::agent_server {

// Fails with invalid_argument. The contents of several user items become parts of one message. Items of other
// roles have no place in a RunRequest and go unchanged into its metadata: {"agent_server":{"input":[...]}}.
base::Result<chat::RunRequest> read_request(json::Value body);

}  // namespace baton::protocol::agent_server
