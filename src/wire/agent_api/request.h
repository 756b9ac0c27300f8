// AgentRequest as a chat::RunRequest.
//
// Of `input` counts what follows the agent's last item: clients send what is new, or all there is. A user's
// items become the message, outputs of tools results, approvals answers. What the agent might want to know
// besides stands in metadata: {"agent_api":{"model":...,"temperature":...,"input":[...]}}, where `input` has
// the items that are neither (system messages, earlier ones).
#pragma once

#include "base/error.h"
#include "wire/chat/run_request.h"
#include "wire/json/document.h"

namespace baton::wire::agent_api {

// Fails with invalid_argument.
base::Result<chat::RunRequest> read_request(Value body);

}  // namespace baton::wire::agent_api
