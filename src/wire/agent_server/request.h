// The body of the Agent Server's POST /stream. Threads: any; stateless.
#pragma once

#include "wire/chat/run_request.h"
#include "wire/json/document.h"

namespace baton::wire::agent_server {

// Fails with invalid_argument. The contents of several user items become parts of one message. Items of other
// roles have no place in a RunRequest and go unchanged into its metadata: {"agent_server":{"input":[...]}}.
base::Result<chat::RunRequest> read_request(Value body);

}  // namespace baton::wire::agent_server
