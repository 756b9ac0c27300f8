// Reads an AgentRequest as a chat::RunRequest.
//
// Only the items of `input` after the agent's last one are new: clients send either the new items or all
// items. Items of the user become the message, outputs of tools become results, approvals become answers.
// Other information for the agent goes into metadata:
// {"agent_api":{"model":...,"temperature":...,"input":[...]}}, where `input` has the remaining items (system
// messages, earlier ones).
#pragma once

#include "base/error.h"
#include "json/document.h"
#include "protocol/chat/run_request.h"

namespace baton::protocol::agent_api {

// Fails with invalid_argument.
base::Result<chat::RunRequest> read_request(json::Value body);

}  // namespace baton::protocol::agent_api
