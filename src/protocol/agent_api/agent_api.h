// AgentScope's Agent API.
#pragma once

#include "protocol/chat/protocol.h"

namespace baton::protocol::agent_api {

const chat::Protocol& protocol();

}  // namespace baton::protocol::agent_api
