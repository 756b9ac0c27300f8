// AG-UI: RunAgentInput and its events, for clients of 0.0.x and of 1.0.
#pragma once

#include "protocol/chat/protocol.h"

namespace baton::protocol::agui {

const chat::Protocol& protocol();

}  // namespace baton::protocol::agui
