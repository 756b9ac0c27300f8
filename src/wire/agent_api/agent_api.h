// AgentScope's Agent API (agent-protocols.md sections 4.1 to 4.4).
#pragma once

#include "wire/chat/protocol.h"

namespace baton::wire::agent_api {

const chat::Protocol& protocol();

}  // namespace baton::wire::agent_api
