// AgentScope's Agent API.
#pragma once

#include "wire/chat/protocol.h"

namespace baton::wire::agent_api {

const chat::Protocol& protocol();

}  // namespace baton::wire::agent_api
