// AG-UI: RunAgentInput and its events, for clients of 0.0.x and of 1.0.
#pragma once

#include "wire/chat/protocol.h"

namespace baton::wire::agui {

const chat::Protocol& protocol();

}  // namespace baton::wire::agui
